// The server of `monolith view`: libmicrohttpd on 127.0.0.1, one thread, GET only.
#include "view/view.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FIRST_PORT = 8123, PORTS = 100 };
// A connection that says nothing is closed soon, one that asked for something may wait; and there is room for more
// connections than a page opens, so that some that never ask do not keep it out.
enum { CONNECTIONS = 512, SILENT_SECONDS = 5, OPEN_SECONDS = 60 };

mo_view_options mo_view_options_default(void) { return (mo_view_options){.every = 1}; }

#ifndef MO_HAVE_MICROHTTPD

mo_status mo_view_serve(const char *dir, const mo_view_options *options, mo_view_ready_fn ready, void *user,
                        mo_error *err)
{
    (void)options, (void)ready, (void)user;
    mo_reader *reader; // a mistake in dir is told first
    MO_TRY(mo_reader_open(dir, &reader, err));
    mo_reader_close(reader);
    return mo_fail(err, MO_ERROR_FAILED,
                   "this program was built without libmicrohttpd and cannot serve (Debian: apt-get install "
                   "libmicrohttpd-dev, then build again); exporting a page works without it");
}

#else
#include <microhttpd.h>

typedef struct server {
    mo_reader *reader;
    char *page;
    size_t page_bytes;
} server;

// ---- Answers ----

static enum MHD_Result send_response(struct MHD_Connection *c, unsigned code, struct MHD_Response *response,
                                     const char *type)
{
    if (!response) return MHD_NO;
    // Nothing may embed this page or read it from elsewhere; a run that is started again has other data at the same
    // address.
    static const char *const headers[][2] = {
        {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Referrer-Policy", "no-referrer"},
    };
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (code == MHD_HTTP_METHOD_NOT_ALLOWED) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET");
    enum MHD_Result result = MHD_queue_response(c, code, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_text(struct MHD_Connection *c, unsigned code, const char *text)
{
    return send_response(c, code, MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY),
                         "text/plain; charset=utf-8");
}

static enum MHD_Result send_payload(struct MHD_Connection *c, server *s, const mo_view_route *route)
{
    mo_error err = {0};
    mo_text payload = {0};
    mo_status status = route->kind == MO_VIEW_RUN ? mo_reader_refresh(s->reader, &err) : MO_OK;
    if (status == MO_OK) status = mo_view_pack(s->reader, route, false, &payload, &err);
    if (status != MO_OK) {
        mo_text_destroy(&payload);
        bool absent = status == MO_ERROR_INPUT || status == MO_ERROR_FILE;
        return send_text(c, absent ? MHD_HTTP_NOT_FOUND : MHD_HTTP_INTERNAL_SERVER_ERROR, err.text);
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback((size_t)payload.bytes, payload.data, mo_free);
    if (!response) mo_text_destroy(&payload);
    return send_response(c, MHD_HTTP_OK, response,
                         route->kind == MO_VIEW_RUN ? "application/json" : "application/octet-stream");
}

static enum MHD_Result answer(void *user, struct MHD_Connection *c, const char *path, const char *method,
                              const char *version, const char *upload, size_t *upload_bytes, void **context)
{
    (void)version, (void)upload, (void)upload_bytes, (void)context;
    server *s = user;
    MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)OPEN_SECONDS);
    if (!mo_view_host_is_local(MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
        return send_text(c, MHD_HTTP_FORBIDDEN, "this server answers to localhost and 127.0.0.1 only\n");
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0)
        return send_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is possible here\n");
    mo_view_route route = mo_view_find_route(path);
    if (route.kind == MO_VIEW_NOTHING) return send_text(c, MHD_HTTP_NOT_FOUND, "there is nothing at this address\n");
    if (route.kind != MO_VIEW_PAGE) return send_payload(c, s, &route);
    return send_response(c, MHD_HTTP_OK,
                         MHD_create_response_from_buffer(s->page_bytes, s->page, MHD_RESPMEM_PERSISTENT),
                         "text/html; charset=utf-8");
}

// Routes are found in the path as it came: view.h decodes where that is meant.
static size_t keep_escapes(void *user, struct MHD_Connection *c, char *text)
{
    (void)user, (void)c;
    return strlen(text);
}

// ---- The socket ----

// Returns the socket, or -1 with errno.
static int listen_at(int32_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); // connections that linger do not block a restart
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 32) == 0) return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static mo_status open_port(int32_t wanted, int32_t *port, int *fd, mo_error *err)
{
    if (wanted < 0 || wanted > 65535)
        return mo_fail(err, MO_ERROR_INPUT, "port must be from 1 to 65535, or 0 for a free one, got %d", wanted);
    int32_t first = wanted ? wanted : FIRST_PORT, last = wanted ? wanted : FIRST_PORT + PORTS - 1;
    for (*port = first; *port <= last; ++*port) {
        *fd = listen_at(*port);
        if (*fd >= 0) return MO_OK;
        if (errno != EADDRINUSE) break;
    }
    if (errno == EADDRINUSE && wanted)
        return mo_fail(err, MO_ERROR_INPUT, "port %d is in use by another program (without a port a free one is taken)",
                       wanted);
    if (errno == EADDRINUSE) return mo_fail(err, MO_ERROR_FAILED, "no free port from %d to %d", first, last);
    return mo_fail(err, MO_ERROR_INPUT, "port %d cannot be used: %s", *port, strerror(errno));
}

// ---- Serving ----

static mo_status serve(server *s, const mo_view_options *o, mo_view_ready_fn ready, void *user, mo_error *err)
{
    int fd = -1;
    int32_t port = 0;
    MO_TRY(open_port(o->port, &port, &fd, err));
    struct MHD_Daemon *daemon =
        MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer, s, MHD_OPTION_LISTEN_SOCKET, fd,
                         MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
                         (unsigned)SILENT_SECONDS, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_END);
    if (!daemon) {
        close(fd);
        return mo_fail(err, MO_ERROR_FAILED, "the server could not be started");
    }
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
    if (ready) ready(user, url);
    while (!o->stop || !o->stop(user)) MHD_run_wait(daemon, 100); // ms between looks at `stop`
    MHD_stop_daemon(daemon);
    return MO_OK;
}

mo_status mo_view_serve(const char *dir, const mo_view_options *options, mo_view_ready_fn ready, void *user,
                        mo_error *err)
{
    mo_view_options o = options ? *options : mo_view_options_default();
    server s = {0};
    mo_status status = mo_reader_open(dir, &s.reader, err);
    if (status == MO_OK) status = mo_view_load_page(o.page, &s.page, &s.page_bytes, err);
    if (status == MO_OK) status = serve(&s, &o, ready, user, err);
    mo_free_block(s.page);
    mo_reader_close(s.reader);
    return status;
}

#endif

// The direct set of multigrid on faces: pieces of marked unknowns, ordered by nested dissection of the lattice,
// factored.
//
// A piece that is wide where it would be halved (sheets, not ropes) is cut into blocks that are solved one after
// another: costs stay proportional to the size, and what sheets lose by it coarse grids make good. Shells of bodies
// stay whole for longer: their unknowns hang together by the body.
#include "base/parallel.h"
#include "sparse/direct.h"
#include <string.h>

enum { PIECE_LEAST = 1000, WIDEST = 150, WIDEST_SHELL = 1200, LEAF = 24 };

typedef struct dissection {
    const mo_csr *A;
    const int32_t (*at)[4];
    uint8_t *side;   // [rows] 1 = of the second half
    int32_t *buffer; // [rows]
} dissection;

// Splits list into those up to the middle of the longest axis and those beyond; returns the number of the first,
// 0 = all in one place. Order is kept.
static int32_t split(const dissection *d, int32_t *list, int32_t n)
{
    MO_ASSERT(n > 1);
    int32_t low[3], high[3], axis = 0;
    for (int32_t k = 0; k < n; k++)
        for (int a = 0; a < 3; a++) {
            int32_t c = d->at[list[k]][a];
            if (k == 0 || c < low[a]) low[a] = c;
            if (k == 0 || c > high[a]) high[a] = c;
        }
    for (int a = 1; a < 3; a++)
        if (high[a] - low[a] > high[axis] - low[axis]) axis = a;
    if (high[axis] == low[axis]) return 0;
    // The median by bisection of the coordinate.
    int32_t lo = low[axis], hi = high[axis] - 1;
    while (lo < hi) {
        int32_t middle = lo + (hi - lo) / 2, below = 0;
        for (int32_t k = 0; k < n; k++) below += d->at[list[k]][axis] <= middle;
        if (2 * below >= n)
            hi = middle;
        else
            lo = middle + 1;
    }
    int32_t first = 0, others = 0;
    for (int32_t k = 0; k < n; k++)
        if (d->at[list[k]][axis] <= lo)
            list[first++] = list[k];
        else
            d->buffer[others++] = list[k];
    memcpy(list + first, d->buffer, sizeof(int32_t) * (size_t)others);
    return first;
}

// Moves those of the first half that touch the second to the end of the list; returns how many the first half keeps.
static int32_t separate(const dissection *d, int32_t *list, int32_t first, int32_t n)
{
    int32_t kept = 0, between = 0;
    for (int32_t k = first; k < n; k++) d->side[list[k]] = 1;
    for (int32_t k = 0; k < first; k++) {
        int32_t i = list[k];
        bool touches = false;
        for (int64_t e = d->A->row[i]; e < d->A->row[i + 1] && !touches; e++) touches = d->side[d->A->col[e]];
        if (touches)
            d->buffer[between++] = i;
        else
            list[kept++] = i;
    }
    for (int32_t k = first; k < n; k++) d->side[list[k]] = 0;
    memmove(list + kept, list + first, sizeof(int32_t) * (size_t)(n - first));
    memcpy(list + kept + n - first, d->buffer, sizeof(int32_t) * (size_t)between);
    return kept;
}

// Order of elimination: one half, the other, then those between.
static void dissect(const dissection *d, int32_t *list, int32_t n)
{
    while (n > LEAF) {
        int32_t first = split(d, list, n);
        if (first == 0) return;
        int32_t kept = separate(d, list, first, n);
        dissect(d, list, kept);
        list += kept, n -= first; // the other half; what lies between stays behind it
    }
}

typedef struct pieces { // being built
    int32_t blocks, *block, chains, *chain, *member, members;
} pieces;

// Cuts a list into blocks and orders each. Carried unknowns come at its end.
static void cut(const dissection *d, int32_t *list, int32_t n, int32_t carried, int32_t widest, pieces *p)
{
    int32_t first = n > PIECE_LEAST ? split(d, list, n) : 0;
    if (first > 0 && first - separate(d, list, first, n) > widest) {
        split(d, list, n); // what was set apart goes back to its half
        cut(d, list, first, 0, widest, p);
        cut(d, list + first, n - first, carried, widest, p);
        return;
    }
    dissect(d, list, n);
    p->members += n + carried;
    p->block[++p->blocks] = p->members;
}

// The piece of `start` among marked rows, faces first; marks are cleared. Returns its size.
static int32_t find_piece(const mo_csr *A, uint8_t *marked, const int32_t (*at)[4], int32_t start, int32_t *list,
                          int32_t *carried, int32_t *stack)
{
    int32_t n = 0, top = 0;
    *carried = 0;
    stack[top++] = start, marked[start] = 0;
    while (top > 0) {
        int32_t i = stack[--top];
        list[n++] = i;
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++)
            if (marked[A->col[k]]) marked[A->col[k]] = 0, stack[top++] = A->col[k];
    }
    // By row number, so that neighbours in memory stay so; carried ones have the highest numbers.
    int32_t faces = 0, others = 0;
    for (int32_t k = 0; k < n; k++)
        if (at[list[k]][3])
            stack[others++] = list[k];
        else
            list[faces++] = list[k];
    memcpy(list + faces, stack, sizeof(int32_t) * (size_t)others);
    *carried = others;
    return n;
}

mo_status mo_direct_create(const mo_csr *A, const uint8_t *marked, const int32_t (*at)[4], mo_direct *out)
{
    MO_ASSERT(A->rows == A->cols);
    *out = (mo_direct){0};
    int32_t count = 0, n = A->rows;
    for (int32_t i = 0; i < n; i++) count += marked[i] != 0;
    size_t rows = (size_t)n, members = (size_t)count;
    pieces p = {.block = mo_calloc(sizeof(int32_t) * (members + 1)), .member = mo_alloc(sizeof(int32_t) * members)};
    p.chain = out->chain = mo_calloc(sizeof(int32_t) * (members + 1));
    uint8_t *mark = mo_alloc(rows);
    dissection d = {A, at, mo_calloc(rows), mo_alloc(sizeof(int32_t) * rows)};
    int32_t *stack = mo_alloc(sizeof(int32_t) * rows);
    bool ok = p.block && p.member && p.chain && mark && d.side && d.buffer && stack;
    if (ok) {
        memcpy(mark, marked, rows);
        for (int32_t i = 0; i < n; i++) {
            if (!mark[i]) continue;
            int32_t carried, size = find_piece(A, mark, at, i, p.member + p.members, &carried, stack);
            cut(&d, p.member + p.members, size - carried, carried, carried ? WIDEST_SHELL : WIDEST, &p);
            p.chain[++p.chains] = p.blocks;
        }
        out->chains = p.chains;
        ok = mo_ldl_create(A, p.blocks, p.block, p.member, &out->ldl) == MO_OK;
        p.block = p.member = NULL; // taken over
    }
    mo_free(p.block), mo_free(p.member), mo_free(mark), mo_free(d.side), mo_free(d.buffer), mo_free(stack);
    if (ok) {
        out->factor_entries = out->ldl.start[count];
        return MO_OK;
    }
    mo_direct_destroy(out);
    return MO_ERROR_MEMORY;
}

void mo_direct_destroy(mo_direct *d)
{
    mo_ldl_destroy(&d->ldl);
    mo_free(d->chain);
    *d = (mo_direct){0};
}

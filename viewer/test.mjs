// test.mjs NODE_MODULES URL SCREENSHOT [KEYS]: opens the page in headless Chromium, plays it, and fails with a message
// if it does not behave. KEYS are pressed before the screenshot, each a name as Playwright knows it. The command in the
// environment variable GROW, if any, adds frames to the run: they must appear. With BRIEF only the smoke is tested.
import { execSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [modules, url, screenshot, ...keys] = process.argv.slice(2);
const { chromium } = createRequire(resolve(modules, 'x.js'))('playwright-core');
const profile = mkdtempSync(join(tmpdir(), 'monolith_chromium_'));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  headless: true,
  viewport: { width: 960, height: 640 },
  args: [
    '--no-sandbox', '--disable-gpu', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
  ],
});

const problems = [];
const check = (good, message) => good || problems.push(message);
const page = context.pages()[0] ?? (await context.newPage());
page.on('console', (message) => {
  if (message.type() === 'error' || (message.type() === 'warning' && !/GPU stall|swiftshader|GroupMarker/i.test(message.text())))
    problems.push(`console: ${message.text()}`);
});
page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
page.on('request', (request) => {
  const known = [new URL(url).origin, 'null'].includes(new URL(request.url()).origin);
  check(known, `the page asked for ${request.url()}`);
});

const frame = () => page.evaluate(() => Number(document.body.dataset.frame ?? -1));

const lastFrame = () => page.evaluate(() => Number(document.getElementById('of').textContent.replace(/\D/g, '')));

// Waits for a frame that satisfies the test. (Playwright's own waiting needs eval, which the page forbids.)
async function until(test, what, seconds = 15) {
  for (let left = 20 * seconds; left > 0; left--) {
    if (test(await frame())) return;
    await page.waitForTimeout(50);
  }
  throw new Error(`${what} did not happen; frame ${await frame()} is shown. ${await page.locator('#note').textContent()}`);
}

// Colours on the screen, counted in a picture of it; a blank view has a handful.
async function colours(selector) {
  const png = (await page.locator(selector).screenshot()).toString('base64');
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    const g = canvas.getContext('2d');
    g.drawImage(image, 0, 0);
    return new Set(new Uint32Array(g.getImageData(0, 0, image.width, image.height).data.buffer)).size;
  }, png);
}

// Smoke is shown, and can be hidden. It moves: the last frame is not the first one.
async function watchSmoke() {
  const picture = async () => {
    await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
    return page.locator('#view').screenshot();
  };
  check(await page.locator('#smoke-set').isVisible(), 'there are no settings of smoke');
  const first = await picture();
  await page.keyboard.press('m');
  const clear = await picture();
  check(!first.equals(clear), 'smoke is not shown, or cannot be hidden');
  await page.keyboard.press('m');
  check(first.equals(await picture()), 'smoke does not come back as it was');
  await page.keyboard.press('End');
  const last = await lastFrame();
  await until((n) => n === last, 'going to the end');
  check(!first.equals(await picture()), 'smoke does not move');
  check((await page.locator('#note').textContent()) === '', `a note: ${await page.locator('#note').textContent()}`);
  return `smoke, frames 0 to ${last}`;
}

async function run() {
  await page.goto(url);
  await until((n) => n >= 0, 'loading', 20);
  if (process.env.BRIEF) return watchSmoke();
  check((await frame()) === 0, 'the page does not start at frame 0');
  const view = await colours('#view');
  check(view > 300, `the view shows only ${view} colours`);
  const plots = await colours('#plots');
  check(plots > 30, `the plots show only ${plots} colours`);

  await page.keyboard.press('Space');
  await until((n) => n >= 2, 'playing');
  await page.keyboard.press('Space');
  await page.keyboard.press('End');
  const last = await lastFrame();
  await until((n) => n === last, 'going to the end');
  await page.keyboard.press('ArrowLeft');
  await until((n) => n < last, 'stepping back');

  // A click at the left end of a plot goes to the start.
  await page.locator('.plot canvas').first().click({ position: { x: 20, y: 40 } });
  await until((n) => n === 0, 'going to the start by a click into a plot');

  // Particles by speed, with a legend; grid, and the other theme. A run may have none.
  const shows = await page.locator('#particles').isEnabled();
  for (const key of ['p', 's', 'c', 'g']) await page.keyboard.press(key);
  await page.keyboard.press('End');
  await until((n) => n === last, 'going to the end');
  const particles = await colours('#view');
  if (shows) {
    check(await page.locator('#legend').isVisible(), 'colours by speed have no legend');
    check(particles > 300, `the particles show only ${particles} colours`);
  }
  for (const key of ['p', 's', 'c', 'c', 'g', 't']) await page.keyboard.press(key);

  // Elastic bodies by stress, with a legend of their own; each has a switch.
  if (await page.locator('#elastic-set').isVisible()) {
    await page.keyboard.press('e');
    check(await page.locator('#stress-legend').isVisible(), 'colours by stress have no legend');
    const stressed = await page.locator('#view').screenshot();
    await page.locator('#elastic-list input').first().uncheck();
    await page.waitForTimeout(300);
    check(!stressed.equals(await page.locator('#view').screenshot()), 'an elastic body cannot be hidden');
    await page.locator('#elastic-list input').first().check();
    await page.locator('#view').focus();
    await page.keyboard.press('e');
    check(!(await page.locator('#stress-legend').isVisible()), 'own colours have a legend of stress');
  }
  check((await page.locator('#note').textContent()) === '', `a note: ${await page.locator('#note').textContent()}`);
  if (process.env.GROW) {
    execSync(process.env.GROW, { stdio: 'inherit' });
    for (let left = 150; left > 0 && (await lastFrame()) === last; left--) await page.waitForTimeout(100);
    const grown = await lastFrame();
    check(grown > last, 'the page does not see new frames');
    await page.keyboard.press('End');
    await until((n) => n === grown, 'going to a new frame');
  }
  return `${view} colours in the view, ${particles} with particles, frames 0 to ${last}`;
}

try {
  const text = await run();
  for (const key of keys) await page.keyboard.press(key);
  await page.waitForTimeout(keys.length ? 1500 : 0);
  await page.screenshot({ path: screenshot });
  if (!problems.length) console.log(text);
} catch (error) {
  problems.push(error.message);
}
await context.close();
rmSync(profile, { recursive: true, force: true });
for (const p of problems) console.log(`FAIL: ${p}`);
process.exit(problems.length ? 1 : 0);

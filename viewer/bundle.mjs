// bundle.mjs NODE_MODULES OUTPUT: page.html with the style and the bundled script put into it.
import { readFileSync, writeFileSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [modules, output] = process.argv.slice(2).map((path) => resolve(path));
const source = join(dirname(fileURLToPath(import.meta.url)), 'src');
const { build } = createRequire(join(modules, 'x.js'))('esbuild');

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(source, entry)], bundle: true, minify: true, write: false, format: 'iife', target: 'es2020',
    nodePaths: [modules], legalComments: 'none', charset: 'utf8',
  });
  return result.outputFiles[0].text.trim();
}

const style = await bundle('style.css');
// Inside an element, a script must not contain the tag that ends it.
const script = (await bundle('main.js')).replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
const license = readFileSync(join(modules, 'three/LICENSE'), 'utf8').trim();
const page = readFileSync(join(source, 'page.html'), 'utf8')
  .replace('/*style*/', () => style)
  .replace('/*script*/', () => script)
  .replace('<!--licenses-->', () => `<!-- Contains three.js:\n${license}\n-->`);
writeFileSync(output + '.tmp', page);
renameSync(output + '.tmp', output);
console.log(`viewer: ${output}, ${Math.round(page.length / 1000)} kB`);

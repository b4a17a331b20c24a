/**
 * Removes from a folder of production dependencies what no bundle loads, and prints how much that saves. Packages that
 * are removed entirely are removed from the bill of materials (CycloneDX) too:
 *
 *   node docker/slim-dependencies.mjs node_modules sbom.cdx.json
 */
import { readdirSync, readFileSync, rmSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [root = 'node_modules', bill] = process.argv.slice(2);

/** Folders to remove. The container tests start the apps without them. */
const UNUSED = [
  // A dependency of @nestjs/swagger for its compiler plug-in only.
  'typescript',
  // TypeORM for browsers.
  'typeorm/browser',
  // Sources, and module formats that Node does not load.
  'rxjs/src',
  'rxjs/dist/bundles',
  'rxjs/dist/esm5',
  'es-toolkit/dist/browser.global.js',
  // Types of packages that do not contain their own.
  '@types',
  '.bin',
];

/** Files that Node never loads. Licenses stay, because they require it. */
const USELESS =
  /\.(map|[cm]?ts|tsx|md|markdown|flow|tsbuildinfo)$|^(tsconfig.*\.json|\.eslintrc.*|\.npmignore|\.travis\.yml)$/i;
const KEPT = /^(licen[cs]e|copying|notice)/i;

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

function sizeOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

const before = sizeOf(root);
for (const path of UNUSED) rmSync(join(root, path), { recursive: true, force: true });
const folders = [];
for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isDirectory()) folders.push(path);
  else if (USELESS.test(entry.name) && !KEPT.test(entry.name)) rmSync(path);
}
// Deepest first, so that folders with only empty folders are removed too.
for (const folder of folders.sort((a, b) => b.length - a.length))
  if (readdirSync(folder).length === 0) rmdirSync(folder);
console.log(`production dependencies: ${megabytes(before)}, reduced to ${megabytes(sizeOf(root))}`);

if (bill) {
  const sbom = JSON.parse(readFileSync(bill, 'utf8'));
  const isGone = ({ name }) => UNUSED.some((path) => `${name}/`.startsWith(`${path}/`));
  const gone = new Set(sbom.components.filter(isGone).map((component) => component['bom-ref']));
  sbom.components = sbom.components.filter((component) => !isGone(component));
  sbom.dependencies = sbom.dependencies
    .filter(({ ref }) => !gone.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => !gone.has(each)) }));
  writeFileSync(bill, JSON.stringify(sbom, null, 2));
}

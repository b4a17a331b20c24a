import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runFolder } from '@perkway/testing';

const FILES = {
  script: { name: 'page-aaaaaaa1.js', text: `"use strict";${'show("card");'.repeat(100)}` },
  drawing: { name: 'drawing-ddddddd1.js', text: 'draw()' },
  style: { name: 'page-bbbbbbb1.css', text: 'body{margin:0}'.repeat(100) },
  noScriptStyle: { name: 'no-script-cccccc1-.css', text: 'p{color:red}' },
};
export const SCRIPT = FILES.script;

/** Creates a folder as the build leaves it, with small files; their content does not matter to the server. */
export function pageFiles(): string {
  const folder = join(runFolder('page'), 'public');
  mkdirSync(folder);
  const manifest: Record<string, string> = {};
  for (const [key, { name, text }] of Object.entries(FILES)) {
    manifest[key] = name;
    writeFileSync(join(folder, name), text);
  }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  // A file of an earlier build, not in the manifest.
  writeFileSync(join(folder, 'page-00000000.js'), 'old');
  return folder;
}

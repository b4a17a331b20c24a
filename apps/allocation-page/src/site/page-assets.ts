import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Compressed } from './compressed.js';

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

export interface Asset {
  type: string;
  content: Compressed;
}

/** The bundled files of the page, read once at start. Their names hold a hash, so they may be cached for ever. */
export class PageAssets {
  private readonly files = new Map<string, Asset>();
  readonly script: string;
  readonly style: string;
  readonly noScriptStyle: string;

  /** Fails when the page was not built into `folder`. */
  constructor(folder: string) {
    for (const name of readdirSync(folder)) {
      const type = TYPES[name.split('.').at(-1)!];
      if (type) this.files.set(name, { type, content: new Compressed(readFileSync(join(folder, name))) });
    }
    this.script = this.pathOf(/^page-[\w-]+\.js$/);
    this.style = this.pathOf(/^page-[\w-]+\.css$/);
    this.noScriptStyle = this.pathOf(/^no-script-[\w-]+\.css$/);
  }

  find(name: string): Asset | undefined {
    return this.files.get(name);
  }

  private pathOf(pattern: RegExp): string {
    const name = [...this.files.keys()].find((candidate) => pattern.test(candidate));
    if (!name) throw new Error(`The page is not built: no file ${pattern.source}`);
    return `/assets/${name}`;
  }
}

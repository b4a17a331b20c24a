import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Compressed } from './compressed.js';

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** File names of the page, written by the build. */
interface Manifest {
  script: string;
  /** The script that draws QR codes and barcodes; loaded only if there is one to draw. */
  drawing: string;
  style: string;
  noScriptStyle: string;
}

export interface Asset {
  type: string;
  content: Compressed;
}

/** Returns `page.js` for `page-Dcb7r9yQ.js`. */
const withoutHash = (name: string): string => name.replace(/-[\w-]{8}\.(?=\w+$)/, '.');

/** The bundled files of the page, read once at start. Their names contain a hash of their content. */
export class PageAssets {
  private readonly files = new Map<string, Asset>();
  private readonly current = new Map<string, Asset>();
  /** URL paths of the files. */
  readonly paths: Readonly<Manifest>;

  /** Throws if the page was not built into `folder`. */
  constructor(folder: string) {
    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
    for (const name of Object.values(manifest) as string[]) {
      const type = TYPES[name.split('.').at(-1)!]!;
      const asset = { type, content: new Compressed(readFileSync(join(folder, name))) };
      this.files.set(name, asset);
      this.current.set(withoutHash(name), asset);
    }
    const { script, drawing, style, noScriptStyle } = manifest;
    this.paths = {
      script: `/assets/${script}`,
      drawing: `/assets/${drawing}`,
      style: `/assets/${style}`,
      noScriptStyle: `/assets/${noScriptStyle}`,
    };
  }

  /**
   * Returns a file by name. `exact` is false if the name belongs to another release: during a rolling update, the page
   * may come from one replica and its script be requested from another. Such a response must not be cached.
   */
  find(name: string): { asset: Asset; exact: boolean } | undefined {
    const own = this.files.get(name);
    if (own) return { asset: own, exact: true };
    const asset = this.current.get(withoutHash(name));
    return asset && { asset, exact: false };
  }
}

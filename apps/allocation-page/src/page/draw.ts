import { one } from './view.js';

type Modules = boolean[][];
/** What drawing.ts brings, which is loaded for the first code that is to be drawn. */
export interface Drawing {
  qr(text: string): Modules;
  code128(text: string): Modules;
}
declare global {
  interface Window {
    perkwayDrawing?: Drawing;
  }
}

export interface Picture {
  modules: Modules;
  /** Empty modules around it that scanners need. */
  quiet: number;
}
/** What is drawn now, for the picture that is saved. */
export let drawn: Picture | null = null;

const SVG = 'http://www.w3.org/2000/svg';
/** A bar code is as high as this part of its width. */
const BAR_HEIGHT = 0.28;

export const heightOf = ({ modules, quiet }: Picture, width: number): number =>
  modules.length > 1 ? modules.length + 2 * quiet : Math.round(width * BAR_HEIGHT);

/** Dark modules as rectangles, each as wide as possible. */
export function* rectangles({ modules, quiet }: Picture): Generator<[x: number, y: number, width: number]> {
  for (let y = 0; y < modules.length; y += 1) {
    const row = modules[y]!;
    for (let x = 0; x < row.length; x += 1) {
      let end = x;
      while (row[end]) end += 1;
      if (end > x) yield [x + quiet, y + (modules.length > 1 ? quiet : 0), end - x];
      x = end;
    }
  }
}

function show(picture: Picture): void {
  const box = one('[data-draw]');
  const isBar = picture.modules.length === 1;
  const width = picture.modules[0]!.length + 2 * picture.quiet;
  const height = heightOf(picture, width);
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  svg.setAttribute('shape-rendering', 'crispEdges');
  svg.setAttribute('class', isBar ? 'bars' : 'qr');
  const path = document.createElementNS(SVG, 'path');
  let line = '';
  for (const [x, y, w] of rectangles(picture)) line += `M${x} ${y}h${w}v${isBar ? height : 1}h-${w}z`;
  path.setAttribute('d', line);
  svg.appendChild(path);
  while (box.firstChild) box.removeChild(box.firstChild);
  box.appendChild(svg);
  box.hidden = false;
}

/** By a copy of the script that the page came with: no text ever becomes the address of a script. */
const load = (): Promise<Drawing> =>
  new Promise((resolve, reject) => {
    const copy = document.importNode(one<HTMLTemplateElement>('template').content, true);
    const script = copy.querySelector('script')!;
    script.onload = () => (window.perkwayDrawing ? resolve(window.perkwayDrawing) : reject());
    script.onerror = reject;
    document.body.appendChild(copy);
  });

/** Draws the code as a till reads it. The text stands there anyway, so that a failure is no loss. */
export async function drawCode(format: string | undefined, text: string): Promise<void> {
  one('[data-draw]').hidden = true;
  drawn = null;
  if (format !== 'qr' && format !== 'code128') return;
  try {
    const drawing = window.perkwayDrawing || (await load());
    drawn = { modules: drawing[format](text), quiet: format === 'qr' ? 4 : 10 };
    show(drawn);
  } catch {
    // Too long for it, a letter that it cannot say, or no connection.
  }
}

import { all, dialog, isScanned, isUrl, one } from './view.js';

type Modules = boolean[][];
/** The functions of drawing.ts, which is loaded when the first code is drawn. */
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
  /** Width of the empty border that scanners need, in modules. */
  quiet: number;
}
/** The code that the page currently draws. */
let drawn: Picture | null = null;

/** Browsers before 2022 may lack dialogs, and get no button. */
const enlargeButton = one('[data-enlarge]');

const SVG = 'http://www.w3.org/2000/svg';
/** Height of a barcode, as a fraction of its width. */
const BAR_HEIGHT = 0.28;

export const heightOf = ({ modules, quiet }: Picture, width: number): number =>
  modules.length > 1 ? modules.length + 2 * quiet : Math.round(width * BAR_HEIGHT);

/** Yields the dark modules as rectangles that are as wide as possible. */
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
  // Stretches a barcode to the height that the stylesheet sets.
  if (isBar) svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('class', isBar ? 'bars' : 'qr');
  const path = document.createElementNS(SVG, 'path');
  let line = '';
  for (const [x, y, w] of rectangles(picture)) line += `M${x} ${y}h${w}v${isBar ? height : 1}h-${w}z`;
  path.setAttribute('d', line);
  svg.appendChild(path);
  box.textContent = '';
  box.appendChild(svg);
  box.hidden = false;
  enlargeButton.hidden = !dialog.showModal;
  fit();
}

/** Makes each module a whole number of pixels wide, because scanners misread bars of uneven width. */
function fit(): void {
  for (const svg of all<SVGSVGElement>('[data-draw] svg, [open] svg')) {
    svg.style.width = '';
    const width = svg.viewBox.baseVal.width;
    // The computed width, not that of the bounding box, because an enlarged barcode is rotated on a phone.
    const pixels = Math.floor((parseFloat(getComputedStyle(svg).width) * devicePixelRatio) / width);
    // If not even one pixel per module fits, the drawing keeps the width of the stylesheet.
    if (pixels > 0) svg.style.width = `${(pixels * width) / devicePixelRatio}px`;
  }
}
addEventListener('resize', fit);

/** Shows the code as large as the screen, for a checkout scanner. */
function enlarge(): void {
  const large = one('[data-large]');
  const drawing = one('[data-draw] svg');
  large.textContent = '';
  large.appendChild(drawing.cloneNode(true));
  dialog.classList.toggle('wide', drawing.classList.contains('bars'));
  // If the scanner fails, the code can be typed. Some tills ask for the PIN, too.
  for (const name of ['code', 'pin']) {
    const value = one(`[data-fill="${name}"]`).cloneNode(true) as HTMLElement;
    value.removeAttribute('data-fill');
    const box = one(`[data-large-${name}]`);
    box.textContent = '';
    box.appendChild(value);
  }
  dialog.showModal();
  fit();
}
enlargeButton.addEventListener('click', enlarge);
one('[data-close]').addEventListener('click', () => dialog.close());

/**
 * Loads the script by cloning the page's `<template>`, so that Trusted Types allow it: no string becomes a script URL.
 */
const load = (): Promise<Drawing> =>
  new Promise((resolve, reject) => {
    const copy = document.importNode(one<HTMLTemplateElement>('template').content, true);
    const script = copy.querySelector('script')!;
    script.onload = () => (window.perkwayDrawing ? resolve(window.perkwayDrawing) : reject());
    script.onerror = reject;
    document.body.appendChild(copy);
  });

async function encode(format: 'qr' | 'code128', text: string): Promise<Picture> {
  const drawing = window.perkwayDrawing || (await load());
  return { modules: drawing[format](text), quiet: format === 'qr' ? 4 : 10 };
}

/** Returns what the saved picture includes: the code as the page draws it, or a QR code if it is a web address. */
export async function pictureOf(code: string): Promise<Picture | null> {
  try {
    return drawn || !isUrl(code) ? drawn : await encode('qr', code);
  } catch {
    return null;
  }
}

/** Draws the code for a checkout scanner. The page shows it as text anyway, so a failure is harmless. */
export async function drawCode(format: string | undefined, text: string): Promise<void> {
  one('[data-draw]').hidden = true;
  enlargeButton.hidden = true;
  drawn = null;
  if (!isScanned(format)) return;
  try {
    drawn = await encode(format, text);
    show(drawn);
  } catch {
    // The code is too long, has a character that the format lacks, or the script did not load.
  }
}

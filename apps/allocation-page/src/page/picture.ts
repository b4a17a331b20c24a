import { heightOf, rectangles, type Picture } from './draw.js';
import { one } from './view.js';

const WIDTH = 1080;
const MARGIN = 90;
const INNER_WIDTH = WIDTH - 2 * MARGIN;
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif';
const MONO = 'ui-monospace, Menlo, Consolas, monospace';

/** A line of text on the picture. */
export interface Line {
  text: string;
  size: number;
  weight?: number;
  color?: string;
  mono?: boolean;
}

const fontOf = ({ size, weight = 400, mono }: Line, scale = 1): string =>
  `${weight} ${Math.floor(size * scale)}px ${mono ? MONO : FONT}`;

/** Wraps the words of a line into rows. Shrinks the whole line if one word is too wide. */
function wrap(
  context: CanvasRenderingContext2D,
  line: Line,
): { font: string; rows: string[]; height: number } {
  const words = line.mono ? [line.text] : line.text.split(/\s+/);
  context.font = fontOf(line);
  const widest = Math.max(...words.map((word) => context.measureText(word).width));
  const scale = Math.min(1, INNER_WIDTH / widest);
  const font = (context.font = fontOf(line, scale));
  const rows: string[] = [];
  for (const word of words) {
    const longer = rows.length ? `${rows[rows.length - 1]} ${word}` : word;
    if (rows.length && context.measureText(longer).width <= INNER_WIDTH) rows[rows.length - 1] = longer;
    else rows.push(word);
  }
  return { font, rows, height: line.size * scale * 1.4 };
}

/** Draws the lines and, below them, the code for a scanner. Nothing is sent anywhere. */
export function paint(lines: Line[], color: string, drawn: Picture | null): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d')!;
  const wrapped = lines.map((line) => ({ line, ...wrap(context, line) }));
  const codeWidth = drawn ? drawn.modules[0]!.length + 2 * drawn.quiet : 0;
  // Use whole pixels per module, so that scanners see sharp edges.
  const pixels = drawn
    ? Math.max(1, Math.floor((drawn.modules.length > 1 ? 640 : INNER_WIDTH) / codeWidth))
    : 0;
  const codeHeight = drawn ? heightOf(drawn, codeWidth) * pixels + 50 : 0;
  const text = wrapped.reduce((sum, { rows, height }) => sum + rows.length * height + 18, 0);
  canvas.width = WIDTH;
  canvas.height = Math.ceil(MARGIN * 2 + text + codeHeight);
  context.fillStyle = '#ffffff';
  context.fillRect(0, 0, WIDTH, canvas.height);
  context.fillStyle = color;
  context.fillRect(0, 0, WIDTH, 28);
  let top = MARGIN;
  context.textBaseline = 'top';
  for (const { line, font, rows, height } of wrapped) {
    context.font = font;
    context.fillStyle = line.color || '#1f1c17';
    for (const row of rows) {
      context.fillText(row, MARGIN, top);
      top += height;
    }
    top += 18;
  }
  if (drawn) {
    // Align to whole pixels, or seams appear between the rows.
    top = Math.round(top) + 25;
    const left = Math.floor((WIDTH - codeWidth * pixels) / 2);
    const bar = drawn.modules.length > 1 ? pixels : codeHeight - 50;
    context.fillStyle = '#000000';
    for (const [x, y, width] of rectangles(drawn))
      context.fillRect(left + x * pixels, top + y * pixels, width * pixels, bar);
  }
  return canvas;
}

/** Downloads the picture as a file. */
export function save(canvas: HTMLCanvasElement, name: string): void {
  canvas.toBlob((blob) => {
    const link = document.createElement('a');
    link.download = name;
    link.href = URL.createObjectURL(blob!);
    one('main').appendChild(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }, 'image/png');
}

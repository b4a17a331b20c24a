import code128 from 'jsbarcode/bin/barcodes/CODE128/CODE128_AUTO.js';
import { generate } from 'lean-qr';
import type { Drawing } from './draw.js';

/** Encodes a text as rows of modules (true is dark), without the quiet zone. */
const draw: Drawing = {
  qr: (text) => {
    const code = generate(text);
    const side = Array.from({ length: code.size });
    return side.map((_, y) => side.map((_, x) => code.get(x, y)));
  },
  code128: (text) => [Array.from(new code128.default(text, {}).encode().data, (module) => module === '1')],
};
window.perkwayDrawing = draw;

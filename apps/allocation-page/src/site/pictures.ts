import { html, Html } from './html.js';

/** A parcel with a bow. `%23` is the encoded `#` of a color. */
export const logoUrl = `data:image/svg+xml,${[
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>",
  "<rect width='32' height='32' rx='7' fill='%230f5c4c'/>",
  "<path fill='%23f4d58d' d='M14 12h4v16h-4zM4 14h24v4H4zM16 12C9 2 4 9 16 12 28 9 23 2 16 12z'/>",
  '</svg>',
].join('')}`;

/** Decoration of the card: rings here, and below a ribbon with a bow. The stylesheet sets the colors. */
export const rings: Html = html`<svg class="rings" viewBox="0 0 340 214" focusable="false">
  <circle cx="262" cy="79" r="58" />
  <circle cx="262" cy="79" r="102" />
  <circle cx="262" cy="79" r="146" />
  <circle cx="262" cy="79" r="190" />
</svg>`;
export const bow: Html = html`<svg class="ribbon" viewBox="0 0 340 214" focusable="false">
  <path class="band" d="M248-602h28v1418h-28z" />
  <path class="fold" d="M252-602h1.5v1418h-1.5zM270.5-602h1.5v1418h-1.5z" />
  <g class="bow">
    <path
      class="band"
      d="M256 84c-2 22-10 38-26 54l15-2 9 13c4-9 7-18 8-28 1 10 4 19 8 28l9-13 15 2c-16-16-24-32-26-54z"
    />
    <path
      class="band"
      d="M262 79C243 40 200 40 202 69c2 26 39 25 60 10zM262 79c19-39 62-39 60-10-2 26-39 25-60 10z"
    />
    <path
      class="fold"
      d="M256 77C241 54 216 54 217 69c1 14 22 15 39 8zM268 77c15-23 40-23 39-8-1 14-22 15-39 8z"
    />
    <rect class="knot" x="251" y="67" width="22" height="23" rx="8" />
  </g>
</svg>`;

const svgIcon = (paths: string): Html =>
  new Html(
    `<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${paths}</svg>`,
  );

export const copyIcon = svgIcon(
  '<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M5 15V6a2 2 0 0 1 2-2h8"/>',
);
export const printIcon = svgIcon(
  '<path d="M7 9V4h10v5M7 17H5a1 1 0 0 1-1-1v-5a2 2 0 0 1 2-2h12a2 2 0 0 1 2 2v5a1 1 0 0 1-1 1h-2"/><rect x="7" y="14" width="10" height="6"/>',
);
export const enlargeIcon = svgIcon('<path d="M14 4h6v6M20 4l-7 7M10 20H4v-6M4 20l7-7"/>');
export const saveIcon = svgIcon('<path d="M12 4v11M7.5 11l4.5 4.5 4.5-4.5M5 20h14"/>');
export const lockIcon = svgIcon(
  '<rect x="5" y="11" width="14" height="9" rx="2"/><path d="M8 11V8a4 4 0 0 1 8 0v3"/>',
);
export const bookmarkIcon = svgIcon('<path d="M7 4h10a1 1 0 0 1 1 1v15l-6-4-6 4V5a1 1 0 0 1 1-1z"/>');
export const shieldIcon = svgIcon(
  '<path d="M12 3l7 3v5c0 4.6-2.9 8.2-7 10-4.1-1.8-7-5.4-7-10V6z"/><path d="M9 12l2 2 4-4"/>',
);
export const envelopeIcon = svgIcon(
  '<rect x="2.5" y="5" width="19" height="14" rx="2"/><path d="M3.5 7l8.5 6.5L20.5 7"/>',
);
export const crossIcon = svgIcon('<circle cx="12" cy="12" r="9"/><path d="M8.5 8.5l7 7M15.5 8.5l-7 7"/>');
export const swapIcon = svgIcon('<path d="M4 9h15l-4-4M20 15H5l4 4"/>');
export const clockIcon = svgIcon('<circle cx="12" cy="12" r="9"/><path d="M12 7v5l3 2"/>');
export const cloudIcon = svgIcon(
  '<path d="M7 18a4 4 0 0 1-.6-7.96A5.5 5.5 0 0 1 16.9 9 4.5 4.5 0 0 1 17.5 18M10 14l4 4M14 14l-4 4"/>',
);

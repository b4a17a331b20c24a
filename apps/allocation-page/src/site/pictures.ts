import { html, Html } from './html.js';

/** A parcel with a bow. The `%23` is the `#` of a colour. */
export const icon = `data:image/svg+xml,${[
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>",
  "<rect width='32' height='32' rx='7' fill='%230f5c4c'/>",
  "<path fill='%23f4d58d' d='M14 12h4v16h-4zM4 14h24v4H4zM16 12C9 2 4 9 16 12 28 9 23 2 16 12z'/>",
  '</svg>',
].join('')}`;

/** The ribbon around the card; its colours come from the stylesheet. */
export const bow: Html = html`<svg class="ribbon" viewBox="0 0 340 214" focusable="false">
  <path class="band" d="M247 0h30v214h-30z" />
  <path class="fold" d="M250 0h2v214h-2zM272 0h2v214h-2z" />
  <g class="bow">
    <path class="band" d="M258 84 231 138l16-5 8 15 16-60zM266 84l27 54-16-5-8 15-16-60z" />
    <path
      class="band"
      d="M262 80C241 36 199 40 203 68c3 24 38 23 59 12zM262 80c21-44 63-40 59-12-3 24-38 23-59 12z"
    />
    <path
      class="fold"
      d="M257 78C240 54 218 55 219 68c1 13 22 14 38 10zM267 78c17-24 39-23 38-10-1 13-22 14-38 10z"
    />
    <rect class="knot" x="251" y="68" width="22" height="22" rx="8" />
  </g>
</svg>`;

const picture = (paths: string): Html =>
  new Html(
    `<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${paths}</svg>`,
  );

export const copy = picture(
  '<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M5 15V6a2 2 0 0 1 2-2h8"/>',
);
export const lock = picture(
  '<rect x="5" y="11" width="14" height="9" rx="2"/><path d="M8 11V8a4 4 0 0 1 8 0v3"/>',
);
export const keep = picture('<path d="M7 4h10a1 1 0 0 1 1 1v15l-6-4-6 4V5a1 1 0 0 1 1-1z"/>');
export const seal = picture(
  '<path d="M12 3l7 3v5c0 4.6-2.9 8.2-7 10-4.1-1.8-7-5.4-7-10V6z"/><path d="M9 12l2 2 4-4"/>',
);
export const broken = picture(
  '<path d="M10 14l-2.5 2.5A3.2 3.2 0 0 1 3 12l3-3M14 10l2.5-2.5A3.2 3.2 0 0 1 21 12l-3 3M8.5 4v2.5M4 8.5h2.5M15.5 20v-2.5M20 15.5h-2.5"/>',
);
export const clock = picture('<circle cx="12" cy="12" r="9"/><path d="M12 7v5l3 2"/>');
export const cloud = picture(
  '<path d="M7 18a4 4 0 0 1-.6-7.96A5.5 5.5 0 0 1 16.9 9 4.5 4.5 0 0 1 17.5 18M10 14l4 4M14 14l-4 4"/>',
);

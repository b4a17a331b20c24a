const PATHS = {
  home: 'M3 11l9-7 9 7M5.5 9.5V20h13V9.5',
  megaphone: 'M4 10v4h3l8 5V5l-8 5zM18 9a4 4 0 0 1 0 6M7 14l1.5 5',
  tag: 'M4 4h8l8 8-8 8-8-8zM8.5 8.5h.01',
  gift: 'M4 11h16v9H4zM3 7h18v4H3zM12 7v13M12 7c-5 0-5-4-2.5-4S12 7 12 7zm0 0c5 0 5-4 2.5-4S12 7 12 7z',
  link: 'M10 14a4 4 0 0 0 6 .5l3-3a4.2 4.2 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6-.5l-3 3a4.2 4.2 0 0 0 6 6l1-1',
  chart: 'M4 4v16h16M8 16v-4M12 16V8M16 16v-6',
  page: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  book: 'M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11M9 8h6',
  plug: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4',
  people:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.500a3.5 3.5 0 0 1 0 6.500M18 14.500a6.5 6.5 0 0 1 3.5 5.5',
  grid: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z',
  pen: 'M4 20l1-4L16 5l3 3L8 19zM13.5 7.500l3 3',
  stack: 'M12 3l9 5-9 5-9-5zM3 12l9 5 9-5M3 16l9 5 9-5',
  pulse: 'M3 12h4l2.5-7 5 14 2.5-7h4',
  gauge: 'M4 18a9 9 0 1 1 16 0M12 14l4-5',
  help: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.500 9.500a2.5 2.5 0 1 1 3.500 2.300c-.7.3-1 .8-1 1.700M12 17h.01',
  list: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6L6 18',
  download: 'M12 4v11M7.5 11l4.5 4.5 4.5-4.500M5 20h14',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12.500l4.5 4.500L19 7',
  back: 'M15 5l-7 7 7 7',
  up: 'M6 15l6-6 6 6',
  down: 'M6 9l6 6 6-6',
  drag: 'M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01',
} as const;
export type IconName = keyof typeof PATHS;

/** Decorative. Put it beside a text, or into a button with a label. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={PATHS[name]} />
  </svg>
);

import cube, { type CubeApi, type Query, type ResultSet } from '@cubejs-client/core';

/** A token is replaced once it is this old. It is valid for 300 s. */
const TOKEN_MS = 240_000;
const RANGE = 'from 29 days ago to now';

const byId = (id: string): HTMLElement => document.getElementById(id)!;

async function getJson<T>(path: string): Promise<T> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path} returned ${response.status}`);
  return (await response.json()) as T;
}

async function connect(): Promise<CubeApi> {
  const { queryUrl } = await getJson<{ queryUrl: string }>('settings');
  let token: Promise<string> | undefined;
  let until = 0;
  return cube(
    () => {
      if (Date.now() > until) {
        until = Date.now() + TOKEN_MS;
        token = getJson<{ token: string }>('token').then((body) => body.token);
        token.catch(() => (until = 0));
      }
      return token!;
    },
    { apiUrl: `${queryUrl}/cubejs-api/v1` },
  );
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const shown = (value: unknown): string => (value === null || value === undefined ? '–' : String(value));

/** Shows the rows behind a number. The Cube client builds the query from the measure's drill members in `/meta`. */
async function drill(api: CubeApi, results: ResultSet, xValues: string[], measure: string): Promise<void> {
  const query = results.drillDown({ xValues, yValues: [measure] });
  if (!query) return;
  const rows = await api.load({ ...query, limit: 100 });
  byId('drill-title').textContent =
    results.annotation().measures[measure]!.title + ': ' + xValues.map(shown).join(', ');
  byId('drill-rows').replaceChildren(tableOf(rows));
  (byId('drill') as HTMLDialogElement).showModal();
}

/** Renders one row per group. Numbers that can be drilled into are buttons. */
function tableOf(results: ResultSet, onFigure?: (xValues: string[], measure: string) => void) {
  const columns = results.tableColumns();
  const { measures } = results.annotation();
  const pivot = results.tablePivot();
  const head = columns.map(({ shortTitle }) => element('th', { scope: 'col' }, shortTitle));
  const lines = pivot.map((row) => {
    const groups = columns.filter(({ key }) => !(key in measures)).map(({ key }) => shown(row[key]));
    const cells = columns.map(({ key }) => {
      const text = shown(row[key]);
      if (!(key in measures)) return element('td', {}, text);
      // A rate cannot be drilled into.
      const isFigure = onFigure !== undefined && measures[key]!.type === 'number' && !measures[key]!.format;
      const content = isFigure
        ? element('button', { className: 'figure', onclick: () => onFigure(groups, key) }, text)
        : text;
      const cell = element('td', { className: 'number' }, content);
      cell.dataset.measure = key;
      return cell;
    });
    const line = element('tr', {}, ...cells);
    line.dataset.group = groups.join(' / ');
    return line;
  });
  return element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...lines),
  );
}

const inRange = (cubeName: string, granularity?: string): Pick<Query, 'timeDimensions'> => ({
  timeDimensions: [{ dimension: `${cubeName}.occurred_at`, granularity, dateRange: RANGE }],
});

async function showClicks(api: CubeApi): Promise<void> {
  const measure = 'perk_clicks.count';
  const results = await api.load({ measures: [measure], ...inRange('perk_clicks', 'day') });
  // The Cube client adds days without clicks.
  const series = results.chartPivot();
  const highest = Math.max(1, ...series.map((point) => Number(point[measure])));
  const bars = series.map((point) => {
    const text = `${point.x.slice(0, 10)}: ${point[measure]}`;
    const bar = element('button', {
      title: text,
      ariaLabel: text,
      onclick: () => act(() => drill(api, results, point.xValues, measure)),
    });
    bar.dataset.day = point.x.slice(0, 10);
    bar.dataset.value = String(point[measure]);
    bar.style.height = `${(100 * Number(point[measure])) / highest}%`;
    return bar;
  });
  byId('clicks').replaceChildren(element('div', { className: 'bars' }, ...bars));
}

async function showTable(api: CubeApi, id: string, query: Query): Promise<void> {
  const results = await api.load(query);
  const onFigure = (xValues: string[], measure: string) => act(() => drill(api, results, xValues, measure));
  byId(id).replaceChildren(tableOf(results, onFigure));
}

/** Shows errors on the page, not only in the console. */
function act(work: () => Promise<void>): void {
  work().catch((error: Error) => (byId('status').textContent = error.message));
}

act(async () => {
  const api = await connect();
  const funnel = (...names: string[]) => names.map((name) => `campaign_funnel.${name}`);
  await Promise.all([
    showClicks(api),
    showTable(api, 'perks', {
      measures: ['perk_clicks.count', 'perk_clicks.count_people'],
      dimensions: ['perk_clicks.perk_title'],
      ...inRange('perk_clicks'),
      limit: 20,
    }),
    showTable(api, 'funnel', {
      measures: funnel(
        'journeys',
        'teaser_viewers',
        'reward_viewers',
        'clickers',
        'converters',
        'gift_recipients',
        'gift_openers',
        'click_rate',
      ),
      dimensions: funnel('campaign_name'),
      ...inRange('campaign_funnel'),
    }),
  ]);
  byId('status').textContent = 'Up to date';
});

import { useQueries, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState, type KeyboardEvent } from 'react';
import { Link } from 'react-router';
import {
  ACCOUNTS,
  CAMPAIGNS,
  CATEGORIES,
  COLLECTIONS,
  LIMITS,
  pathOf,
  PERKS,
  POOLS,
  type Kind,
} from '../api/managed';
import { perkway, responseOf } from '../api/perkway';
import { pathOfLink, SHORT_ID } from '../api/reward-links';
import type { RewardLink } from '../api/types';
import { formatMoment, formatMoney } from '../format';
import { useAccountNames } from '../parts/account-field';
import { Dialog } from '../parts/dialog';
import { TextField } from '../parts/fields';
import { Failed } from '../parts/loaded';
import { useViewAsClient } from '../parts/view-as-client';
import { texts } from '../texts';

const t = texts.find;
const KINDS: Kind[] = [ACCOUNTS, CAMPAIGNS, PERKS, COLLECTIONS, CATEGORIES, POOLS, LIMITS];
const SHOWN = 5;
const PAUSE_MS = 200;

interface Hit {
  key: string | number;
  to: string;
  /** The account in whose console the hit is shown, if not in that of operators. */
  viewed?: string;
  name: string;
  /** @param nameOf names an account */
  hintOf: (nameOf: (account: string) => string) => string;
}
interface Group {
  label: string;
  hits: Hit[];
  areMore: boolean;
  /** The list of all matches. Keys and links have none. */
  listPath?: string;
}

async function findOf(kind: Kind, q: string, signal: AbortSignal): Promise<Group> {
  const { data, next_cursor } = await responseOf(kind.list({ q, limit: SHOWN }, { signal }));
  return {
    label: kind.label,
    hits: data.map((item) => ({
      key: item.id,
      to: pathOf(kind, item.id),
      name: kind.nameOf(item),
      hintOf: (nameOf) => {
        const id = kind.nameOf(item) === item.id ? '' : String(item.id);
        return item.owner === undefined ? id : t.ofAccount(id, nameOf(item.owner));
      },
    })),
    areMore: next_cursor !== null,
    listPath: `${kind.listPath}?q=${encodeURIComponent(q)}`,
  };
}

/** A key is shown on the screen of its account. */
async function findKeys(q: string, signal: AbortSignal): Promise<Group> {
  const { data, next_cursor } = await responseOf(
    perkway.token.listAllApiKeys({ q, limit: SHOWN }, { signal }),
  );
  return {
    label: texts.integration.keys,
    hits: data.map(({ id, name, last4, owner }) => ({
      key: id,
      to: pathOf(ACCOUNTS, owner),
      name: name ?? texts.integration.endsWith(last4),
      hintOf: (nameOf) => t.keyOf(nameOf(owner), texts.integration.endsWith(last4)),
    })),
    areMore: next_cursor !== null,
  };
}

/** Finds links by their id, or by its first 8 characters: the short reference that recipients quote. */
async function findLinks(q: string, signal: AbortSignal): Promise<Group> {
  const short_id = q.slice(0, 8);
  const { data } = SHORT_ID.test(short_id)
    ? await responseOf(perkway.gift.findRewardLinks({ short_id }, { signal }))
    : { data: [] };
  return {
    label: texts.nav.rewardLinks,
    hits: data
      .filter(({ id }) => id.startsWith(q.toLowerCase()))
      .map((link) => {
        const { id, owner, denomination, currency, created_at } = link;
        return {
          key: id,
          to: pathOfLink(id),
          viewed: owner,
          name: id,
          hintOf: (nameOf) =>
            t.linkOf(
              nameOf(owner),
              formatMoney(denomination, currency),
              formatMoment(created_at),
              stateOf(link),
            ),
        };
      }),
    areMore: false,
  };
}

/** Returns the state of the link and its time, as text. */
function stateOf({
  state,
  revealed_at,
  cancelled_at,
  expires_at,
}: Pick<RewardLink, 'state' | 'revealed_at' | 'cancelled_at' | 'expires_at'>): string {
  if (revealed_at) return t.opened(formatMoment(revealed_at));
  if (cancelled_at) return t.cancelled(formatMoment(cancelled_at));
  return (state === 'EXPIRED' ? t.expired : t.outstanding)(formatMoment(expires_at * 1000));
}

const SEARCHES = [
  ...KINDS.map((kind) => (q: string, signal: AbortSignal) => findOf(kind, q, signal)),
  findKeys,
  findLinks,
];
const combine = (results: UseQueryResult<Group>[]) => ({
  groups: results.flatMap(({ data }) => (data?.hits.length ? [data] : [])),
  isPending: results.some(({ isPending }) => isPending),
  error: results.find(({ error }) => error)?.error,
});

const HIT = '.hits :is(a, button)';

/** Moves the focus between the field and the hits. */
function step(event: KeyboardEvent<HTMLElement>) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>(`input, ${HIT}`)];
  stops[stops.indexOf(document.activeElement as HTMLElement) + by]?.focus();
}

/** Finds what operators manage in all accounts, by name or id. */
export default function Search({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [q, setQ] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setQ(typed.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const { groups, isPending, error } = useQueries({
    queries: SEARCHES.map((search, index) => ({
      queryKey: ['search', index, q],
      queryFn: ({ signal }: { signal: AbortSignal }) => search(q, signal),
      enabled: q !== '',
    })),
    combine,
  });
  const nameOf = useAccountNames(q !== '');
  const view = useViewAsClient();
  const isReady = q !== '' && !isPending;
  const count = groups.reduce((sum, { hits }) => sum + hits.length, 0);
  return (
    <Dialog title={t.title} isOpen onClose={onClose} size="wide">
      <form
        role="search"
        className="stack"
        onKeyDown={step}
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim() === q) event.currentTarget.querySelector<HTMLElement>(HIT)?.click();
        }}
      >
        <TextField
          label={t.field}
          type="search"
          hint={t.hint}
          maxLength={200}
          autoFocus
          value={typed}
          onValue={setTyped}
        />
        <p className="hint" role="status">
          {q !== '' && (isReady ? t.found(count) : texts.loading)}
        </p>
        {error && <Failed error={error} />}
        {groups.map(({ label, hits, areMore, listPath }) => (
          <section key={label} aria-label={label}>
            <h3>{label}</h3>
            <ul className="hits">
              {hits.map(({ key, to, viewed, name, hintOf }) => (
                <li key={key}>
                  {viewed === undefined ? (
                    <Link to={to} onClick={onClose}>
                      {name} <span className="hint">{hintOf(nameOf)}</span>
                    </Link>
                  ) : (
                    // No link: its address leads there only in the account's console.
                    <button
                      type="button"
                      onClick={() => {
                        onClose();
                        void view(viewed, to);
                      }}
                    >
                      {name} <span className="hint">{hintOf(nameOf)}</span>
                    </button>
                  )}
                </li>
              ))}
              {areMore && (
                <li>
                  {listPath ? (
                    <Link to={listPath} onClick={onClose}>
                      {t.more}
                    </Link>
                  ) : (
                    <span className="hint">{t.narrow}</span>
                  )}
                </li>
              )}
            </ul>
          </section>
        ))}
      </form>
    </Dialog>
  );
}

import { Inject, Injectable } from '@nestjs/common';
import {
  ADVISORY_LOCKS,
  asStandIn,
  externalIdStandIn,
  isOfSubject,
  withoutPerson,
  type Erasure,
  type ErasureSubject,
  type StandIns,
} from '@perkway/domain';
import { ENV } from '@perkway/platform';
import { keyedHash } from '@perkway/signing';
import { randomBytes } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import type { AnalyticsQueryEnv } from '../env.js';

/** The members of an event that identify its journey. */
interface EventLike {
  account: string;
  journey?: unknown;
}

interface ReplacedEvents<Event> {
  /** All events, with stand-ins for the erased persons. */
  events: Event[];
  /** Erasures of the journeys that some of the events belong to. */
  erasures: Erasure[];
}

/**
 * Returns the key in `conversion_ids` of a conversion that came with a JOURNEY key, which is public. The prefix keeps
 * it different from all keys of conversions that servers sent.
 */
export const publicConversionKey = (standIn: string): string => `public:${standIn}`;
const randomStandIn = (): string => asStandIn(randomBytes(32).toString('base64url'));
const journeyKey = (account: string, journey: string): string => `${account}\0${journey}`;

/**
 * Stores the erased journeys as keyed hashes, each with a stand-in: a random id that replaces the journey. Events of an
 * erased journey that arrive later are stored with its stand-in too.
 */
@Injectable()
export class ErasedJourneys {
  constructor(
    private readonly dataSource: DataSource,
    @Inject(ENV) private readonly env: AnalyticsQueryEnv,
  ) {}

  /**
   * Returns the replacements for the erased values. Remembers an erased journey, but not a customer id, because the
   * customer may come back.
   */
  async begin({ account, kind, value }: ErasureSubject): Promise<StandIns> {
    const secret = this.secretOf(account, this.env.ERASURE_KEYS.current);
    if (kind !== 'journey_id') return { standIn: randomStandIn(), secret };
    return { standIn: (await this.find(account, value)) ?? (await this.add(account, value)), secret };
  }

  /**
   * Returns the values that an external id may have in `conversion_ids`; new rows use the first. They are stand-ins of
   * the id, one per key of the keyring. An erasure need not change rows made with the current key. Rows of earlier
   * releases have the id itself.
   *
   * @param isPublic true if the conversion came with a JOURNEY key. Its id is stored with a prefix, so that
   * nobody can use up the ids of a server by guessing them.
   */
  externalIdKeys(account: string, externalId: string, isPublic: boolean): string[] {
    const standIns = this.env.ERASURE_KEYS.keyIds.map((keyId) =>
      externalIdStandIn(this.secretOf(account, keyId), externalId),
    );
    if (isPublic) return standIns.map(publicConversionKey);
    return [...new Set([...standIns, externalId])];
  }

  /**
   * Replaces erased journeys in events. Call it in the transaction that stores the events, after it has taken the
   * ingest lock.
   * @param events of any account, including events that cannot be stored
   */
  async replaceErased<Event extends EventLike>(
    manager: EntityManager,
    events: readonly Event[],
  ): Promise<ReplacedEvents<Event>> {
    const unchanged = { events: [...events], erasures: [] };
    if (events.length === 0) return unchanged;
    const accounts = await manager.query<{ id: string }[]>(
      'select account_id as id from erased_journeys where account_id = any($1::text[]) group by 1',
      [[...new Set(events.map(({ account }) => account))]],
    );
    if (accounts.length === 0) return unchanged;
    const accountsWithErasures = new Set(accounts.map(({ id }) => id));
    const candidates = events.filter(({ account }) => accountsWithErasures.has(account));
    const erasures = await this.erasuresOf(manager, candidates);
    return {
      events: events.map((event) => {
        if (!accountsWithErasures.has(event.account)) return event;
        const { account, journey } = event;
        const erasure = typeof journey === 'string' ? erasures.get(journeyKey(account, journey)) : undefined;
        const isErased =
          erasure !== undefined && isOfSubject(event as EventLike & Record<string, unknown>, erasure);
        return isErased ? withoutPerson(event, erasure) : event;
      }),
      erasures: [...erasures.values()],
    };
  }

  /** Returns an erasure for each of the given strings that is an erased journey of the account. */
  async erasuresOfJourneys(account: string, candidates: readonly string[]): Promise<Erasure[]> {
    const events = candidates.map((journey) => ({ account, journey }));
    return [...(await this.erasuresOf(this.dataSource.manager, events)).values()];
  }

  private async erasuresOf(
    manager: EntityManager,
    events: readonly EventLike[],
  ): Promise<Map<string, Erasure>> {
    const journeys = new Map<string, [account: string, journey: string]>();
    for (const { account, journey } of events)
      if (typeof journey === 'string') journeys.set(journeyKey(account, journey), [account, journey]);
    const hashes = new Map<string, [account: string, journey: string]>();
    for (const [account, journey] of journeys.values())
      for (const hash of this.hashesOf(account, journey)) hashes.set(hash, [account, journey]);
    const rows = await manager.query<{ hash: string; stand_in: string }[]>(
      'select hash, stand_in from erased_journeys where account_id = any($1) and hash = any($2)',
      [[...new Set([...hashes.values()].map(([account]) => account))], [...hashes.keys()]],
    );
    return new Map(
      rows.map(({ hash, stand_in: standIn }) => {
        const [account, value] = hashes.get(hash)!;
        const secret = this.secretOf(account, this.env.ERASURE_KEYS.current);
        const erasure = { id: '', round: 0, account, kind: 'journey_id', value, standIn, secret } as const;
        return [journeyKey(account, value), erasure];
      }),
    );
  }

  private async find(account: string, journey: string): Promise<string | undefined> {
    const rows = await this.dataSource.query<{ stand_in: string }[]>(
      'select stand_in from erased_journeys where account_id = $1 and hash = any($2)',
      [account, this.hashesOf(account, journey)],
    );
    return rows[0]?.stand_in;
  }

  /**
   * Adds the journey under the ingest lock, so that a transaction that stores events either commits before this one or
   * sees the new row.
   */
  private async add(account: string, journey: string): Promise<string> {
    await this.dataSource.transaction(async (manager) => {
      await manager.query(`set local lock_timeout = '2s'`);
      await manager.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.ingest})`);
      const [hash] = this.hashesOf(account, journey);
      await manager.query(
        'insert into erased_journeys (account_id, hash, stand_in) values ($1, $2, $3) on conflict do nothing',
        [account, hash, randomStandIn()],
      );
    });
    return (await this.find(account, journey))!;
  }

  /** Returns one hash per key of the keyring, that of the current key first. */
  private hashesOf(account: string, journey: string): string[] {
    return this.env.ERASURE_KEYS.keyIds.map((keyId) =>
      keyedHash(this.secretOf(account, keyId), `journey\0${journey}`),
    );
  }

  private secretOf(account: string, keyId: string): string {
    return keyedHash(this.env.ERASURE_KEYS.subkey('erasure', keyId)!, account);
  }
}

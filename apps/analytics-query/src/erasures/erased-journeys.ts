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

/** As much of an event as tells whose it is. */
interface EventLike {
  account: string;
  journey?: unknown;
  externalId?: unknown;
}

interface Late<Event> {
  /** All of them, without the persons who were erased. */
  events: Event[];
  /** Of the journeys that some of them are of. */
  erasures: Erasure[];
}

const randomStandIn = (): string => asStandIn(randomBytes(32).toString('base64url'));
const journeyKey = (account: string, journey: string): string => `${account}\0${journey}`;

/**
 * The journeys that were erased, as keyed hashes with what has taken their place: what is stored of them from then on
 * has it too, whenever it comes and from wherever.
 */
@Injectable()
export class ErasedJourneys {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(ENV) private readonly env: AnalyticsQueryEnv,
  ) {}

  /** For a customer nothing is kept, who may come again. */
  async begin({ account, kind, value }: ErasureSubject): Promise<StandIns> {
    const secret = this.secretOf(account, this.env.ERASURE_KEYS.current);
    if (kind !== 'journey_id') return { standIn: randomStandIn(), secret };
    return { standIn: (await this.find(account, value)) ?? (await this.add(account, value)), secret };
  }

  /**
   * To be called in the transaction that stores the events, after it has taken the lock of the ingest.
   * @param events of any account, also ones that cannot be stored
   */
  async takeOut<Event extends EventLike>(
    manager: EntityManager,
    events: readonly Event[],
  ): Promise<Late<Event>> {
    const unchanged = { events: [...events], erasures: [] };
    if (events.length === 0) return unchanged;
    const accounts = (await manager.query(
      'select account_id as id from erased_journeys where account_id = any($1::text[]) group by 1',
      [[...new Set(events.map(({ account }) => account))]],
    )) as { id: string }[];
    if (accounts.length === 0) return unchanged;
    const concerned = new Set(accounts.map(({ id }) => id));
    const some = events.filter(({ account }) => concerned.has(account));
    const erasures = await this.erasuresOf(manager, some);
    const externalIds = await this.knownExternalIds(manager, some);
    return {
      events: events.map((event) => {
        if (!concerned.has(event.account)) return event;
        const { account, journey, externalId } = event;
        const erasure = typeof journey === 'string' ? erasures.get(journeyKey(account, journey)) : undefined;
        const isErased =
          erasure !== undefined && isOfSubject(event as EventLike & Record<string, unknown>, erasure);
        const known =
          typeof externalId === 'string' ? externalIds.get(journeyKey(account, externalId)) : undefined;
        const left = isErased ? withoutPerson(event, erasure) : event;
        return known === undefined ? left : { ...left, externalId: known };
      }),
      erasures: [...erasures.values()],
    };
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
    const rows = (await manager.query(
      'select hash, stand_in from erased_journeys where account_id = any($1) and hash = any($2)',
      [[...new Set([...hashes.values()].map(([account]) => account))], [...hashes.keys()]],
    )) as { hash: string; stand_in: string }[];
    return new Map(
      rows.map(({ hash, stand_in: standIn }) => {
        const [account, value] = hashes.get(hash)!;
        const secret = this.secretOf(account, this.env.ERASURE_KEYS.current);
        const erasure = { id: '', round: 0, account, kind: 'journey_id', value, standIn, secret } as const;
        return [journeyKey(account, value), erasure];
      }),
    );
  }

  /** What stands for those external ids that have been counted and erased. */
  private async knownExternalIds(
    manager: EntityManager,
    events: readonly EventLike[],
  ): Promise<Map<string, string>> {
    const standIns = new Map<string, [account: string, externalId: string]>();
    for (const { account, externalId } of events)
      if (typeof externalId === 'string')
        for (const keyId of this.env.ERASURE_KEYS.keyIds)
          standIns.set(externalIdStandIn(this.secretOf(account, keyId), externalId), [account, externalId]);
    if (standIns.size === 0) return new Map();
    const rows = (await manager.query(
      'select external_id from conversion_ids where account_id = any($1) and external_id = any($2)',
      [[...new Set([...standIns.values()].map(([account]) => account))], [...standIns.keys()]],
    )) as { external_id: string }[];
    return new Map(
      rows.map(({ external_id: standIn }) => [journeyKey(...standIns.get(standIn)!), standIn] as const),
    );
  }

  private async find(account: string, journey: string): Promise<string | undefined> {
    const rows = (await this.dataSource.query(
      'select stand_in from erased_journeys where account_id = $1 and hash = any($2)',
      [account, this.hashesOf(account, journey)],
    )) as { stand_in: string }[];
    return rows[0]?.stand_in;
  }

  /** Whoever stores events meanwhile has committed before, or sees it. */
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

  /** Under each key of the ring, that of today first. */
  private hashesOf(account: string, journey: string): string[] {
    return this.env.ERASURE_KEYS.keyIds.map((keyId) =>
      keyedHash(this.secretOf(account, keyId), `journey\0${journey}`),
    );
  }

  private secretOf(account: string, keyId: string): string {
    return keyedHash(this.env.ERASURE_KEYS.subkey('erasure', keyId)!, account);
  }
}

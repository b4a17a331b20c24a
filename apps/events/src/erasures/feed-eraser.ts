import { Injectable } from '@nestjs/common';
import { isOfSubject, type Erasure } from '@perkway/domain';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { PERSON_MEMBERS } from '../feed/feed-store.js';
import { PersonKeys } from '../feed/person-keys.js';

/** Positions per statement, so that no statement takes long. */
const STEP = 20_000;
/** A longer erasure continues in the background: the RPC responds that it is not done, and the caller repeats it. */
const RESPONSE_TIMEOUT_MS = 700;

/** Events that may name the person; `isOfSubject` decides. */
const CANDIDATES = `
  select position, data from events
  where account_id = $1 and position > $2 and position <= $3 and not erased
    and (data ->> 'journey_id' = $4 or data ->> 'reference' = $4
      or exists (select from jsonb_each_text(coalesce(data -> 'cmeta', '{}')) where value = $4))`;
/** Removes the person from events. If the subject of an event is a journey, the stand-in replaces the journey's id. */
const ERASE = `
  update events set erased = true,
    data = data - $4::text[],
    subject = case when subject like 'journey/%' then 'journey/' || $3 else subject end
  where account_id = $1 and position = any ($2)`;

/** Deletes stored error messages, because a receiver may have repeated the event in its response. */
const FORGET_ERRORS = `
  with named as materialized (
    select d.webhook, d.id from events e join webhooks w using (account_id)
    join deliveries d on d.webhook = w.key and d.event_id = e.id
    where e.account_id = $1 and e.position = any ($2) order by d.webhook, d.id for update of d
  )
  update deliveries d set last_error = null from named where d.webhook = named.webhook and d.id = named.id`;

/**
 * Removes a person from the feed (docs/adr/0031-erasure.md), and so from deliveries, which read it when they are sent.
 */
@Injectable()
export class FeedEraser {
  private readonly running = new Map<string, Promise<boolean>>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly keys: PersonKeys,
  ) {}

  /** Erases the person. Returns whether it is done; if not, the caller must request it again. */
  async erase(erasure: Erasure): Promise<boolean> {
    const key = `${erasure.id}/${erasure.round}`;
    let run = this.running.get(key);
    if (!run) {
      run = this.eraseAll(erasure)
        .then(() => true)
        .finally(() => setTimeout(() => this.running.delete(key), 60_000).unref());
      // The next request finds no running erasure, and starts again.
      run.catch(() => this.running.delete(key));
      this.running.set(key, run);
    }
    return Promise.race([run, sleep(RESPONSE_TIMEOUT_MS, false, { ref: false })]);
  }

  /**
   * Remembers the erased journey, under the lock of the feed: an event is either stored before this and erased below,
   * or stored after it without the person.
   */
  private remember(account: string, journey: string, standIn: string): Promise<unknown> {
    return this.dataSource.transaction(async (manager) => {
      await manager.query('insert into feeds (account_id) values ($1) on conflict do nothing', [account]);
      await manager.query('select from feeds where account_id = $1 for update', [account]);
      await manager.query(
        'insert into erased_journeys (account_id, hash, stand_in) values ($1, $2, $3) on conflict do nothing',
        [account, this.keys.journey(account, journey), standIn],
      );
    });
  }

  private async eraseAll(erasure: Erasure) {
    const { account, value, standIn, kind } = erasure;
    if (kind === 'journey_id') await this.remember(account, value, standIn);
    const [feed] = await this.dataSource.query<{ first: number; last: number }[]>(
      `select last_position::float8 as last,
         coalesce((select position from events where account_id = $1 order by position limit 1), 1)::float8 as first
       from feeds where account_id = $1`,
      [account],
    );
    if (!feed) return;
    for (let before = feed.first - 1; before < feed.last; before += STEP) {
      const candidates = await this.dataSource.query<{ position: string; data: Record<string, unknown> }[]>(
        CANDIDATES,
        [account, before, before + STEP, value],
      );
      const found = candidates.filter(({ data }) =>
        isOfSubject(
          {
            account,
            journey: data.journey_id,
            campaign: data.campaign_id,
            reference: data.reference,
            cmeta: data.cmeta,
          },
          erasure,
        ),
      );
      if (found.length === 0) continue;
      const positions = found.map(({ position }) => position);
      await this.dataSource.query(ERASE, [account, positions, standIn, PERSON_MEMBERS]);
      // Runs after the commit, because attempts that read the event before it may have stored an error.
      await this.dataSource.query(FORGET_ERRORS, [account, positions]);
    }
  }
}

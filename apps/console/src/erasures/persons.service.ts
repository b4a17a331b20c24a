import { Injectable } from '@nestjs/common';
import { ApiError, COUNT_CODES_OF_CUSTOMER, isRecord, type ErasureKind } from '@perkway/domain';
import { RpcClient } from '@perkway/platform';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { FleetClients, responseOf } from '../fleet/fleet-clients.js';
import { ConsoleKeys } from '../sessions/console-keys.js';
import type { Session } from '../sessions/session.js';
import type { DataOfPersonDto } from './person.dto.js';
import { ROWS_OF_PERSON } from './rows-of-person.js';

/** Every cube with `journey_id`. The counts leave out events of other cubes, even if an erasure changes them. */
export const CUBES_OF_PERSONS = [
  'perk_clicks',
  'teaser_views',
  'reward_views',
  'incentive_clicks',
  'conversions',
  'reward_links',
] as const;
export type CubeOfPersons = (typeof CUBES_OF_PERSONS)[number];
export type Person = { journey: string } | { customer: string };

const KEY_MS = 5 * 60_000;

/** Counts the data of a person in an account, for the operator who is about to erase it. */
@Injectable()
export class PersonsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly keys: ConsoleKeys,
    private readonly clients: FleetClients,
    private readonly rpc: RpcClient,
  ) {}

  /** @throws ACCOUNT_NOT_FOUND */
  async find(session: Session, account: string, person: Person): Promise<DataOfPersonDto> {
    const source = { purpose: 'view', secret: randomUUID(), keyringId: this.keys.keyringId } as const;
    const holder = { keyId: session.consoleKeyId, viewing: account };
    const { id, reply } = await this.keys.open(source, holder, new Date(Date.now() + KEY_MS));
    if (reply.error) throw new ApiError(reply.error);
    const perkway = this.clients.withKey(this.keys.keyOf(source)!);
    try {
      // Any of the cubes may have the journey. A customer is counted as the reference of links, not in attributes.
      const [cubes, member, value] =
        'journey' in person
          ? ([CUBES_OF_PERSONS, 'journey_id', person.journey] as const)
          : ([['reward_links'], 'reference', person.customer] as const);
      const counts = cubes.map(async (cube) => {
        const query = {
          measures: [`${cube}.count`],
          filters: [{ member: `${cube}.${member}`, operator: 'equals' as const, values: [value] }],
        };
        const { data } = (await responseOf('query', perkway.analytics.loadByPost({ query }))) as {
          data: unknown[];
        };
        const [row] = data;
        return { cube, count: isRecord(row) ? Number(row[`${cube}.count`]) : 0 };
      });
      const [job_rows, { codes }, ...events] = await Promise.all([
        this.jobRows(account, value, 'customer' in person ? 'customer_id' : 'journey_id'),
        'customer' in person
          ? this.rpc.request(COUNT_CODES_OF_CUSTOMER, { account, ...person })
          : { codes: 0 },
        ...counts,
      ]);
      return { events: events.filter(({ count }) => count > 0), job_rows, codes };
    } finally {
      await this.keys.close([id]);
    }
  }

  private async jobRows(account: string, value: string, kind: ErasureKind): Promise<number> {
    const [{ rows }] = await this.dataSource.query<[{ rows: number }]>(
      `select count(*)::integer as rows from link_job_rows r, link_jobs j where ${ROWS_OF_PERSON}`,
      [account, value, kind],
    );
    return rows;
  }
}

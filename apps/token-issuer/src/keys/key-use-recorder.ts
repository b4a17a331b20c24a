import type { KeyUseRecorder } from '@perkway/auth';
import { isUuid } from '@perkway/domain';
import type { DataSource } from 'typeorm';

/** Locks rows in a fixed order, so that the reports of two apps cannot deadlock. */
const RECORD = `
  with used as (
    select id, to_timestamp(minute * 60) as at from unnest($1::uuid[], $2::bigint[]) as u(id, minute)
  ),
  news as (
    select k.id, used.at from api_keys k join used using (id)
    where k.last_used_at is null or k.last_used_at < used.at
    order by k.id for no key update of k
  )
  update api_keys k set last_used_at = news.at from news where k.id = news.id`;

/** Records the use of a key at most once a minute, even if several apps report it. */
export const keyUseRecorder =
  (dataSource: DataSource): KeyUseRecorder =>
  async ({ minutes }) => {
    const uses = Object.entries(minutes).filter(([id]) => isUuid(id));
    if (uses.length > 0)
      await dataSource.query(RECORD, [uses.map(([id]) => id), uses.map(([, minute]) => minute)]);
  };

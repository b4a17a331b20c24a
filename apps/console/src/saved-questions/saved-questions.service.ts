import { Injectable } from '@nestjs/common';
import { ApiError, invalidField, isUuid } from '@perkway/domain';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { nameOf, type Session } from '../sessions/session.js';
import type { SavedQuestionDto, SaveQuestionDto } from './saved-question.dto.js';

const MAX_QUESTIONS = 100;
/** The parameters of Explore. */
const PARAMETERS = [
  ...['cube', 'measures', 'dimensions', 'steps', 'where', 'filter', 'operator', 'value', 'people'],
  ...['dates', 'from', 'to'],
];

interface Row extends Omit<SavedQuestionDto, 'saved_at'> {
  saved_at: Date;
}
const COLUMNS = 'id, name, question, saved_by, saved_at';
const toDto = ({ saved_at, ...row }: Row): SavedQuestionDto => ({ ...row, saved_at: saved_at.toISOString() });

/** Returns whether the text contains the word, and not only as a part of a longer one. */
const hasWord = (text: string, word: string): boolean => {
  const pattern = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}_])${pattern}(?![\\p{L}\\p{N}_])`, 'u').test(text);
};

const SAVE = `
  insert into saved_questions (id, account_id, name, question, saved_by, saved_at)
  select $1, $2, $3, $4, $5, now()
  where (select count(*) from saved_questions where account_id = $2 and name <> $3) < ${MAX_QUESTIONS}
  on conflict (account_id, name) do update
    set question = excluded.question, saved_by = excluded.saved_by, saved_at = excluded.saved_at
  returning ${COLUMNS}`;

/** Stores questions of Explore by name. Everybody in an account can see, replace and delete them. */
@Injectable()
export class SavedQuestionsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly log: AuditLog,
  ) {}

  async list({ account }: Pick<Session, 'account'>): Promise<SavedQuestionDto[]> {
    const rows = await this.dataSource.query<Row[]>(
      `select ${COLUMNS} from saved_questions where account_id = $1 order by name limit ${MAX_QUESTIONS}`,
      [account],
    );
    return rows.map(toDto);
  }

  /** @throws VALIDATION_FAILED, TOO_MANY_QUESTIONS */
  async save(session: Session, { name, question }: SaveQuestionDto): Promise<SavedQuestionDto> {
    const wanted = new URLSearchParams(question);
    const unknown = [...wanted.keys()].find((parameter) => !PARAMETERS.includes(parameter));
    if (unknown !== undefined || !wanted.has('cube'))
      throw invalidField('question', `must have a cube and only the parameters ${PARAMETERS.join(', ')}`);
    const row = await this.log.record(
      session,
      { action: 'POST', host: 'console', path: '/saved-questions', before: null },
      () => this.store(session, name, wanted.toString()),
      // Without the name and the question, which may contain a person's id: the log could not erase it.
      (saved) =>
        saved
          ? { status: 200, after: { id: saved.id } }
          : { status: 409, after: { refused: 'TOO_MANY_QUESTIONS' } },
    );
    if (!row) throw new ApiError('TOO_MANY_QUESTIONS');
    return toDto(row);
  }

  /** Returns undefined if the account has too many. */
  private store(session: Session, name: string, question: string): Promise<Row | undefined> {
    const { account } = session;
    return this.dataSource.transaction(async (manager) => {
      // One at a time, so that replicas together store no more than the limit.
      await manager.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `saved questions of ${account}`,
      ]);
      const [row] = await manager.query<Row[]>(SAVE, [
        randomUUID(),
        account,
        name,
        question,
        nameOf(session),
      ]);
      return row;
    });
  }

  /** @throws QUESTION_NOT_FOUND */
  async delete(session: Session, id: string): Promise<void> {
    const [row] = isUuid(id)
      ? await this.dataSource.query<Pick<Row, 'id'>[]>(
          'select id from saved_questions where id = $1 and account_id = $2',
          [id, session.account],
        )
      : [];
    if (!row) throw new ApiError('QUESTION_NOT_FOUND');
    await this.log.record(
      session,
      { action: 'DELETE', host: 'console', path: `/saved-questions/${id}`, before: { id } },
      () => this.dataSource.query('delete from saved_questions where id = $1', [id]),
      () => ({ status: 204, after: null }),
    );
  }

  /**
   * Deletes the account's questions that have this value in a condition, or as a word in their name, because a person
   * is erased.
   */
  async erase(account: string, value: string): Promise<void> {
    const saved = await this.list({ account });
    const asking = saved.filter(({ name, question }) => {
      const parameters = new URLSearchParams(question);
      // A condition is `member:value`.
      const values = parameters
        .getAll('where')
        .map((condition) => condition.slice(condition.indexOf(':') + 1));
      return [...values, parameters.get('value')].includes(value) || hasWord(name, value);
    });
    await this.dataSource.query('delete from saved_questions where id = any($1)', [
      asking.map(({ id }) => id),
    ]);
  }
}

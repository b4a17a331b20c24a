import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DomainError, invalidField } from '@perkway/domain';
import { Conditions, Pages, searchOf, type ListQuery, type Page } from '@perkway/platform';
import { isEmail } from 'class-validator';
import { DataSource, Not, Repository } from 'typeorm';
import { AccountEntity } from '../accounts/account.entity.js';
import { ConsoleKeysService } from '../console-keys/console-keys.service.js';
import { foldEmail } from './fold-email.js';
import type { PersonResource } from './person.dto.js';
import { PersonEntity, type PersonRole } from './person.entity.js';

const toResource = ({ email, role }: PersonEntity): PersonResource => ({ email, role });

/** The people of accounts. Their addresses are compared without case, and kept in lower case. */
@Injectable()
export class PeopleService {
  constructor(
    private readonly dataSource: DataSource,
    @InjectRepository(PersonEntity) private readonly people: Repository<PersonEntity>,
    @InjectRepository(AccountEntity) private readonly accounts: Repository<AccountEntity>,
    private readonly pages: Pages,
    private readonly consoleKeys: ConsoleKeysService,
  ) {}

  /** By address. @throws DomainError ACCOUNT_NOT_FOUND, VALIDATION_FAILED */
  async list(account: string, query: ListQuery): Promise<Page<PersonResource>> {
    const page = this.pages.ask<[email: string]>({ name: 'people' }, query, account);
    const where = new Conditions().and`account_id = ${account}`.search(searchOf(query), 'email');
    if (page.after) where.and`email > ${page.after[0]}`;
    await this.requireAccount(account);
    const rows = await this.dataSource.query<PersonEntity[]>(
      `select email, role from people where ${where} order by email limit ${where.bind(page.rows)}`,
      where.parameters,
    );
    return page.answer(rows, ({ email }) => [email], toResource);
  }

  /** @throws DomainError ACCOUNT_NOT_FOUND, PERSON_NOT_FOUND */
  async get(account: string, email: string): Promise<PersonResource> {
    await this.requireAccount(account);
    const person = isEmail(email)
      ? await this.people.findOneBy({ account_id: account, email: foldEmail(email) })
      : null;
    if (!person) throw new DomainError('PERSON_NOT_FOUND');
    return toResource(person);
  }

  /** @throws DomainError VALIDATION_FAILED for what is no address, ACCOUNT_NOT_FOUND */
  async put(account: string, email: string, role: PersonRole): Promise<PersonResource> {
    if (!isEmail(email)) throw invalidField('email', 'must be an e-mail address');
    await this.requireAccount(account);
    const person = { account_id: account, email: foldEmail(email), role };
    await this.people.upsert({ ...person, updated_at: () => 'now()' }, ['account_id', 'email']);
    await this.consoleKeys.revokeFor({ account_id: account, person_email: person.email, role: Not(role) });
    return { email: person.email, role };
  }

  /** @throws DomainError ACCOUNT_NOT_FOUND, PERSON_NOT_FOUND */
  async delete(account: string, email: string): Promise<void> {
    await this.requireAccount(account);
    const known = isEmail(email) && { account_id: account, email: foldEmail(email) };
    if (!known || !(await this.people.delete(known)).affected) throw new DomainError('PERSON_NOT_FOUND');
    await this.consoleKeys.revokeFor({ account_id: account, person_email: known.email });
  }

  private async requireAccount(id: string): Promise<void> {
    if (!(await this.accounts.existsBy({ id }))) throw new DomainError('ACCOUNT_NOT_FOUND');
  }
}

import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ApiError, invalidField } from '@perkway/domain';
import { Conditions, KeysetPaginator, searchOf, type ListQuery, type Page } from '@perkway/platform';
import { isEmail } from 'class-validator';
import { DataSource, Not, Repository } from 'typeorm';
import { AccountEntity } from '../accounts/account.entity.js';
import { ConsoleKeysService, latestEnd } from '../console-keys/console-keys.service.js';
import { foldEmail } from './fold-email.js';
import type { PersonResource } from './person.dto.js';
import { PersonEntity, type PersonRole } from './person.entity.js';

const toResource = ({ email, role }: PersonEntity): PersonResource => ({ email, role });

/** Manages the people of accounts. Addresses are case-insensitive and stored in lower case. */
@Injectable()
export class PeopleService {
  constructor(
    private readonly dataSource: DataSource,
    @InjectRepository(PersonEntity) private readonly people: Repository<PersonEntity>,
    @InjectRepository(AccountEntity) private readonly accounts: Repository<AccountEntity>,
    private readonly pages: KeysetPaginator,
    private readonly consoleKeys: ConsoleKeysService,
  ) {}

  /** Returns a page sorted by address. @throws ApiError ACCOUNT_NOT_FOUND, VALIDATION_FAILED */
  async list(account: string, query: ListQuery): Promise<Page<PersonResource>> {
    const page = this.pages.request<[email: string]>({ name: 'people' }, query, account);
    const where = new Conditions().and`account_id = ${account}`.search(searchOf(query), 'email');
    if (page.after) where.and`email > ${page.after[0]}`;
    await this.requireAccount(account);
    const rows = await this.dataSource.query<PersonEntity[]>(
      `select email, role from people where ${where} order by email limit ${where.bind(page.rows)}`,
      where.parameters,
    );
    return page.respond(rows, ({ email }) => [email], toResource);
  }

  /** @throws ApiError ACCOUNT_NOT_FOUND, PERSON_NOT_FOUND */
  async get(account: string, email: string): Promise<PersonResource> {
    await this.requireAccount(account);
    const person = isEmail(email)
      ? await this.people.findOneBy({ account_id: account, email: foldEmail(email) })
      : null;
    if (!person) throw new ApiError('PERSON_NOT_FOUND');
    return toResource(person);
  }

  /**
   * @param makerKeyId the id of the key that sent the request
   * @throws ApiError VALIDATION_FAILED for an invalid address, ACCOUNT_NOT_FOUND
   * @throws ApiError KEY_EXPIRES if an expiring key would give a person new access to its own account, or the role
   * ADMIN in any account
   */
  async put(account: string, email: string, role: PersonRole, makerKeyId: string): Promise<PersonResource> {
    if (!isEmail(email)) throw invalidField('email', 'must be an e-mail address');
    await this.requireAccount(account);
    const person = { account_id: account, email: foldEmail(email), role };
    const known = await this.people.findOneBy({ account_id: account, email: person.email });
    const getsMore = !known || (role === 'ADMIN' && known.role !== 'ADMIN');
    if (getsMore && (await latestEnd(this.dataSource.manager, makerKeyId, person)))
      throw new ApiError('KEY_EXPIRES', 'The person would keep access after your own key has expired');
    await this.people.upsert({ ...person, updated_at: () => 'now()' }, ['account_id', 'email']);
    await this.consoleKeys.revokeFor({ account_id: account, person_email: person.email, role: Not(role) });
    if (role === 'USER') await this.consoleKeys.revokeMadeBy(account, person.email, ['ADMIN']);
    return { email: person.email, role };
  }

  /** @throws ApiError ACCOUNT_NOT_FOUND, PERSON_NOT_FOUND */
  async delete(account: string, email: string): Promise<void> {
    await this.requireAccount(account);
    if (!isEmail(email)) throw new ApiError('PERSON_NOT_FOUND');
    const known = { account_id: account, email: foldEmail(email) };
    const { affected } = await this.people.delete(known);
    // Runs even if the person is already removed, so that a retry completes a removal that a crash interrupted.
    await this.consoleKeys.revokeFor({ account_id: account, person_email: known.email });
    // JOURNEY keys stay: they are public, so the person knows no secret.
    await this.consoleKeys.revokeMadeBy(account, known.email, ['USER', 'ADMIN']);
    if (!affected) throw new ApiError('PERSON_NOT_FOUND');
  }

  private async requireAccount(id: string): Promise<void> {
    if (!(await this.accounts.existsBy({ id }))) throw new ApiError('ACCOUNT_NOT_FOUND');
  }
}

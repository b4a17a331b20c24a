import { natsUsers } from '@perkway/local-servers';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../src/paths.js';

const FILE = join(ROOT, 'k8s/broker/users.conf');
const passwordVariable = (user: string) => `$${user.toUpperCase().replaceAll('-', '_')}_PASSWORD`;

/** `UPDATE=1 npx jest tools/containers/test/broker-users` regenerates the file. */
it('k8s/broker/users.conf has the users and permissions that the apps need', () => {
  const expected = `include passwords/passwords.conf\n${natsUsers(passwordVariable)}\n`;
  if (process.env.UPDATE) writeFileSync(FILE, expected);
  expect(readFileSync(FILE, 'utf8')).toBe(expected);
});

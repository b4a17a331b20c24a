import { natsUsers } from '@perkway/local-servers';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../src/paths.js';

const FILE = join(ROOT, 'k8s/broker/users.conf');
const passwordVariable = (user: string) => `$${user.toUpperCase().replaceAll('-', '_')}_PASSWORD`;

/** `UPDATE=1 npx jest tools/containers/test/broker-users` writes the file anew. */
test('the brokers of deployments have the users that the questions and streams of the apps take', () => {
  const expected = `include passwords/passwords.conf\n${natsUsers(passwordVariable)}\n`;
  if (process.env.UPDATE) writeFileSync(FILE, expected);
  expect(readFileSync(FILE, 'utf8')).toBe(expected);
});

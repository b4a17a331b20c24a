import { asBrokerUser, BROKER_OPERATOR, BROKER_USERS, type BrokerUser } from '@perkway/domain';
import { natsPassword } from '@perkway/fleet';

/** Longer than any request timeout. */
const RESPONSE_TIMEOUT = '1m';

/** The default, two seconds, is too short for a client on a starved machine. */
const SIGN_IN_TIMEOUT_SECONDS = 10;

const list = (subjects: string[]): string =>
  `[\n${subjects.map((subject) => `          ${JSON.stringify(subject)}`).join('\n')}\n        ]`;

/** An empty allow list would allow everything. */
const rule = (subjects: string[]): string =>
  subjects.length > 0 ? `{ allow: ${list(subjects)} }` : '{ deny: ">" }';

const permissionsOf = ({ publish, subscribe, responses }: BrokerUser): string[] => [
  `        publish: ${rule(publish)}`,
  `        subscribe: ${rule(subscribe)}`,
  ...(responses ? [`        allow_responses: { max: 1, expires: "${RESPONSE_TIMEOUT}" }`] : []),
];

/**
 * Generates the `authorization` block of a nats-server configuration: the operator and one user per app.
 *
 * @param password returns the value to write: a quoted string or a `$VARIABLE`
 */
export function natsUsers(password: (user: string) => string): string {
  const users = Object.entries(BROKER_USERS).map(([app, user]) =>
    [
      `    {`,
      `      user: "${app}", password: ${password(app)}`,
      `      permissions: {`,
      ...permissionsOf(user),
      `      }`,
      `    }`,
    ].join('\n'),
  );
  const operator = `    { user: "${BROKER_OPERATOR}", password: ${password(BROKER_OPERATOR)} }`;
  return [
    'authorization {',
    `  timeout: ${SIGN_IN_TIMEOUT_SECONDS}`,
    '  users: [',
    operator,
    ...users,
    '  ]',
    '}',
  ].join('\n');
}

/** The users with passwords derived from one secret. */
export function natsUsersBy(secret: string) {
  const passwordOf = natsPassword(secret);
  return {
    configuration: natsUsers((user) => JSON.stringify(passwordOf(user))),
    /** Returns the same servers with this user's credentials. */
    urlOf: (user: string, url: string): string => asBrokerUser(url, user, passwordOf(user)),
  };
}

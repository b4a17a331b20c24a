import { asBrokerUser, BROKER_OPERATOR, BROKER_USERS, type BrokerUser } from '@perkway/domain';
import { natsPassword } from '@perkway/fleet';

/** Longer than any asker waits. */
const ANSWER_WITHIN = '1m';

const list = (subjects: string[]): string =>
  `[\n${subjects.map((subject) => `          ${JSON.stringify(subject)}`).join('\n')}\n        ]`;

/** An empty list of what is allowed would allow everything. */
const rule = (subjects: string[]): string =>
  subjects.length > 0 ? `{ allow: ${list(subjects)} }` : '{ deny: ">" }';

const permissionsOf = ({ publish, subscribe, answers }: BrokerUser): string[] => [
  `        publish: ${rule(publish)}`,
  `        subscribe: ${rule(subscribe)}`,
  ...(answers ? [`        allow_responses: { max: 1, expires: "${ANSWER_WITHIN}" }`] : []),
];

/**
 * The part of a nats-server's configuration that says who may do what: one user per app and the operator.
 *
 * @param password as it is to stand there: a quoted text, or a `$VARIABLE`
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
  return ['authorization {', '  users: [', operator, ...users, '  ]', '}'].join('\n');
}

/** The users with passwords that follow from one secret, as those of the database roles do. */
export function natsUsersBy(secret: string) {
  const passwordOf = natsPassword(secret);
  return {
    configuration: natsUsers((user) => JSON.stringify(passwordOf(user))),
    /** The same servers as this user. */
    urlOf: (user: string, url: string): string => asBrokerUser(url, user, passwordOf(user)),
  };
}

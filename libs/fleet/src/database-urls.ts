import { APPS, FLEET, hasDatabase, type DatabaseApp } from './fleet.js';

export const READER_ROLE = FLEET['analytics-query'].database.reader;

export interface DatabaseUrls {
  /** The URL with the user of `adminUrl`: a superuser, or the owner of the database. */
  admin: string;
  apps: Record<DatabaseApp, string>;
  reader: string;
}

export interface DatabaseUrlOptions {
  database: string;
  passwordOf: (role: string) => string;
}

const withLogin = (adminUrl: string, database: string, role?: string, password?: string): string => {
  const url = new URL(adminUrl);
  url.pathname = `/${encodeURIComponent(database)}`;
  if (role !== undefined) url.username = encodeURIComponent(role);
  if (password !== undefined) url.password = encodeURIComponent(password);
  return url.toString();
};

/** Returns the URLs of one database for all roles, with the server and parameters of `adminUrl`. */
export function databaseUrls(adminUrl: string, { database, passwordOf }: DatabaseUrlOptions): DatabaseUrls {
  const of = (role: string) => withLogin(adminUrl, database, role, passwordOf(role));
  return {
    admin: withLogin(adminUrl, database),
    apps: Object.fromEntries(
      APPS.filter(hasDatabase).map((app) => [app, of(FLEET[app].database.role)]),
    ) as DatabaseUrls['apps'],
    reader: of(READER_ROLE),
  };
}

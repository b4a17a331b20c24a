import { texts } from './texts';
import type { Mailer } from './mail-snippets';

const t = texts.send;
/** What tells the mailings of a source apart. URLs have them only if they are filled in. */
export const OPTIONAL_UTM = ['utm_campaign', 'utm_content'] as const;

/** Returns the fields of Send in `search`, with those of a mailing with these UTM parameters instead. */
export function fieldsOf(utm: Record<string, string>, search: string): URLSearchParams {
  const fields = new URLSearchParams(search);
  if (utm['utm_source'] === undefined) return fields;
  for (const name of ['utm_source', ...OPTIONAL_UTM]) {
    fields.delete(name);
    if (utm[name]) fields.set(name, utm[name]);
  }
  const mailer = Object.entries(t.sources).find(([, source]) => source === utm['utm_source'])?.[0];
  if (mailer) fields.set('mailer', mailer);
  return fields;
}

/** A mailing as the fields of Send describe it. They stand in the URL. */
export function mailingOf(valueOf: (name: string) => string) {
  const asked = valueOf('mailer');
  const mailer: Mailer = asked in t.mailers ? (asked as Mailer) : 'mailchimp';
  /** The UTM parameters that its pixel and links carry. */
  const utm: Record<string, string> = {
    utm_source: valueOf('utm_source').trim() || (mailer === 'own' ? 'mail' : t.sources[mailer]),
    utm_medium: 'email',
  };
  for (const name of OPTIONAL_UTM) {
    const value = valueOf(name).trim();
    if (value !== '') utm[name] = value;
  }
  return { mailer, utm };
}

/**
 * Placeholders that a mailer replaces with the id of each recipient. Those of Braze and Customer.io encode the id for a
 * URL. The other ids need no encoding, unless a Marketing Cloud subscriber key has characters such as `+`.
 */
export const PLACEHOLDERS = {
  mailchimp: '*|UNIQID|*',
  hubspot: '{{ contact.hs_object_id }}',
  marketingCloud: '%%_subscriberkey%%',
  braze: '{{${user_id} | url_param_escape}}',
  customerIo: '{{ customer.id | url_encode }}',
} as const;
export type Mailer = keyof typeof PLACEHOLDERS | 'own';

/**
 * The characters `"<>&#` would end the attribute or the URL around the placeholder. A bare word is no placeholder: the
 * mailer would leave it, and all recipients would count as one journey.
 */
export const isUsablePlaceholder = (text: string) =>
  text.trim() !== '' && !/["<>&#\r\n]/.test(text) && !/^[\p{L}\p{N}]+$/u.test(text.trim());

/** Delimiters of placeholders, also percent-encoded. */
const DELIMITERS =
  /(?:\{|%7b){2}|(?:\}|%7d){2}|(?:\*|%2a)(?:\||%7c)|(?:\||%7c)(?:\*|%2a)|(?:%25){2}|%%|(?:\[|%5b){2}/i;
/** Returns whether the id of a journey still has the placeholder of the mailer, or that of another one. */
export const hasPlaceholder = (journeyId: string, placeholder: string) =>
  DELIMITERS.test(journeyId) ||
  (isUsablePlaceholder(placeholder) &&
    [placeholder, encodeURIComponent(placeholder)].some((text) => journeyId.includes(text)));

/** Adds the recipient's id to a URL. The placeholder stays as it is, or the mailer would not find it. */
export const personalUrl = (url: string, placeholder: string) =>
  `${url}${url.includes('?') ? '&' : '?'}journeyId=${placeholder}`;

const PRIVATE_HOST =
  /^(?:localhost|[^.[]+|.*\.(?:localhost|local|internal|test)|(?:0|10|127)\..*|169\.254\..*|192\.168\..*|172\.(?:1[6-9]|2\d|3[01])\..*|\[(?:::1?|f[cd].*|fe[89ab].*)\])$/i;
/** Returns whether only this machine or its network can open the URL, so that a link to it fails for recipients. */
export const isPrivateUrl = (url: string) => PRIVATE_HOST.test(new URL(url).hostname);

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** A URL within an attribute: its ampersands are escaped, and nothing of the placeholder needs to be. */
export const pixelHtml = (url: string, placeholder: string) =>
  `<img src="${escapeHtml(personalUrl(url, placeholder))}" width="1" height="1" alt="" style="display:block;border:0">`;

export const linkHtml = (url: string, placeholder: string, title: string) =>
  `<a href="${escapeHtml(personalUrl(url, placeholder))}">${escapeHtml(title)}</a>`;

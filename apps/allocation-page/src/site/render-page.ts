import type { Texts } from '../texts/index.js';
import { html, type Html } from './html.js';
import {
  bookmarkIcon,
  bow,
  clockIcon,
  cloudIcon,
  copyIcon,
  crossIcon,
  enlargeIcon,
  envelopeIcon,
  lockIcon,
  logoUrl,
  printIcon,
  rings,
  saveIcon,
  shieldIcon,
  swapIcon,
} from './pictures.js';

/** URLs of the page's files. */
interface Files {
  script: string;
  /** Draws the card code as a barcode or QR code. */
  drawing: string;
  style: string;
  noScriptStyle: string;
}

/**
 * Renders the page in one language, with all its states. The script shows the elements of the current state
 * (`data-when`) and fills in the link's values (`data-fill`, `data-template`); it contains no texts of its own.
 *
 * @param isForeign whether the reader prefers only languages that the page lacks: it then begins with language buttons
 */
export const renderPage = (
  texts: Texts,
  languages: readonly Texts[],
  files: Files,
  isForeign: boolean,
): string =>
  html`<!doctype html>
    <html lang="${texts.lang}" dir="${texts.dir}">
      <head>
        <meta charset="utf-8" />
        <title>${texts.title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content="${texts.description}" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex, nofollow" />
        <meta name="format-detection" content="telephone=no, date=no, address=no, email=no" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#f6f3ec" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#151412" media="(prefers-color-scheme: dark)" />
        <link rel="icon" href="${logoUrl}" />
        <link rel="stylesheet" href="${files.style}" />
        <noscript><link rel="stylesheet" href="${files.noScriptStyle}" /></noscript>
        <script src="${files.script}" defer></script>
      </head>
      <body>
        <header class="top">
          ${isForeign ? languageForm(endonyms(languages), texts, languages, ({ thisLanguage }) => thisLanguage) : ''}
          <img class="logo" src="${logoUrl}" alt="" />
          <p class="name" dir="auto" data-fill="brand" translate="no">Perkway</p>
        </header>
        <main data-state="loading">
          <div class="card" aria-hidden="true">
            <div class="face">
              ${rings}${bow}
              <img class="face-logo" data-product="logo" alt="" hidden />
              <p class="face-brand" dir="auto" data-fill="title" data-product="text" translate="no"></p>
              <p class="face-amount" data-fill="amount"></p>
              <p class="face-foot"><span data-kind>${texts.giftCard}</span><span data-fill="place"></span></p>
            </div>
            <div class="blank">
              <span data-when="missing unknown" hidden>${envelopeIcon}</span>
              <span data-when="expired busy" hidden>${clockIcon}</span>
              <span data-when="cancelled withdrawn" hidden>${crossIcon}</span>
              <span data-when="replaced" hidden>${swapIcon}</span>
              <span data-when="unreachable" hidden>${cloudIcon}</span>
            </div>
          </div>
          <div class="panel">
            <p class="unseen" role="status" data-status></p>
            <noscript>
              <section>
                <h1>${texts.noScript.heading}</h1>
                <p>${texts.noScript.text}</p>
                <p>${texts.noScript.safe} ${texts.askSender}</p>
              </section>
            </noscript>
            <section data-when="loading">
              <h1 class="waiting"><span class="spinner"></span>${texts.loading.heading}</h1>
              <p data-slow hidden>${texts.loading.slow}</p>
              <p class="stuck">${texts.loading.stuck}</p>
            </section>
            <section data-when="reserved revealing" hidden>
              ${sender(texts)}
              <h1 tabindex="-1" data-fill="amount" data-template="${texts.reserved.heading}"></h1>
              ${product}
              <button type="button" class="main" data-reveal>
                <span data-when="reserved">${texts.reserved.show}</span>
                <span data-when="revealing" hidden
                  ><span class="spinner"></span>${texts.reserved.opening}</span
                >
              </button>
              <div data-when="revealing" hidden>
                <p class="notice" data-slow hidden>${texts.loading.slow}</p>
              </div>
              ${delivered(texts)}
              <p class="small">${lockIcon}<span>${texts.reserved.sealed}</span></p>
              <dl>
                <div>
                  <dt>${texts.reserved.until}</dt>
                  <dd>
                    <bdi data-fill="date"></bdi> <span class="left" data-fill="left"></span>
                    <p class="after">${texts.reserved.after}</p>
                  </dd>
                </div>
                ${place(texts)}
              </dl>
            </section>
            <section data-when="revealed" hidden>
              ${sender(texts)}
              <h1
                tabindex="-1"
                data-unless-replaced
                data-fill="amount"
                data-template="${texts.revealed.heading}"
              ></h1>
              <h1 tabindex="-1" data-replaced hidden>${texts.revealed.replaced.heading}</h1>
              ${product}
              <p class="opened" data-fill="time" data-template="${texts.revealed.openedNow}"></p>
              <p class="opened" data-fill="moment" data-template="${texts.revealed.openedBefore}"></p>
              <p class="notice" data-replaced hidden>${texts.revealed.replaced.text}</p>
              <details>
                <summary data-replaced hidden>${texts.revealed.replaced.show}</summary>
                ${secret('code', texts)} ${secret('pin', texts)}
                <dl>
                  <div data-valid>
                    <dt>${texts.revealed.validUntil}</dt>
                    <dd data-fill="last-day">${texts.revealed.noLastDay}</dd>
                  </div>
                </dl>
                ${shop(texts)}
                <div class="how" data-how>
                  <h2>${texts.revealed.how}</h2>
                  <div data-own-words>
                    <p data-how-store>${texts.revealed.inStore}</p>
                    <p data-how-shop>${withShop(texts.revealed.howShop)}</p>
                    <p data-how-address>${withShop(texts.revealed.howAddress.open)}</p>
                    <p data-of-pin>${texts.revealed.howPin}</p>
                    <p data-balance>${withShop(texts.revealed.balance)}</p>
                    <p data-ask data-fill="brand" data-template="${texts.revealed.askWhereBrand}">
                      ${texts.revealed.askWhere}
                    </p>
                  </div>
                  <p
                    class="label"
                    data-of-issuer
                    data-fill="language"
                    data-template="${texts.revealed.ofIssuerIn}"
                  >
                    ${texts.revealed.ofIssuer}
                  </p>
                  <p class="instructions" dir="auto" data-fill="instructions" data-product="text"></p>
                  <div data-how-address>
                    <p>${texts.revealed.howAddress.keep}</p>
                    <p data-fill="brand" data-template="${texts.revealed.howAddress.failedBrand}">
                      ${texts.revealed.howAddress.failed}
                    </p>
                  </div>
                </div>
                <div class="tools" data-unless-replaced>
                  <button type="button" class="copy" data-print>
                    ${printIcon}<span>${texts.revealed.print}</span>
                  </button>
                  <button type="button" class="copy" data-save>
                    ${saveIcon}${confirmed(texts.revealed.save, texts.revealed.saved)}
                  </button>
                </div>
                <dl>
                  ${place(texts)}
                  <div data-opened hidden>
                    <dt>${texts.revealed.firstOpened}</dt>
                    <dd>
                      <bdi data-fill="opened"></bdi>
                      <p class="after" data-fill="brand" data-template="${texts.revealed.notYouBrand}">
                        ${texts.revealed.notYou}
                      </p>
                    </dd>
                  </div>
                </dl>
              </details>
              <p class="keep" data-unless-replaced>
                ${bookmarkIcon}<span
                  ><strong>${texts.revealed.keep}</strong><br />${texts.revealed.keepWhy}
                  <span data-keep-code>${texts.revealed.keepCode}</span></span
                >
              </p>
            </section>
            <section data-when="expired" hidden>
              <h1 tabindex="-1">${texts.expired.heading}</h1>
              <p data-fill="date" data-template="${texts.expired.when}"></p>
              <p data-fill="brand" data-template="${texts.expired.nextBrand}">${texts.expired.next}</p>
              ${help('main', texts)}
            </section>
            ${(['cancelled', 'withdrawn', 'replaced'] as const).map((state) => ended(state, texts))}
            <dl data-when="expired cancelled withdrawn replaced" hidden>
              <div>
                <dt>${texts.giftCard}</dt>
                <dd>
                  <bdi data-fill="amount"></bdi>
                  <bdi data-fill="product" data-product="text" translate="no"></bdi>
                </dd>
              </div>
            </dl>
            <div data-when="reserved revealing revealed expired cancelled withdrawn replaced" hidden>
              ${reference(texts)}
              <p class="more">
                ${newTab('quiet', 'terms', texts.revealed.terms, texts)}
                <span data-when="reserved revealing revealed">${help('quiet', texts)}</span>
              </p>
            </div>
            <section data-when="unknown" hidden>
              <h1 tabindex="-1">${texts.unknown.heading}</h1>
              <p>${texts.unknown.text}</p>
            </section>
            <section data-when="missing" hidden>
              <h1 tabindex="-1">${texts.missing.heading}</h1>
              <p>${texts.missing.text}</p>
            </section>
            <form data-when="unknown missing" novalidate hidden>
              <label for="link">${texts.paste.label}</label>
              <input
                id="link"
                type="text"
                inputmode="url"
                autocomplete="off"
                autocapitalize="none"
                autocorrect="off"
                spellcheck="false"
                dir="ltr"
                placeholder="https://…"
                aria-describedby="wrong"
              />
              <p
                id="wrong"
                class="wrong"
                role="alert"
                data-empty="${texts.paste.empty}"
                data-wrong="${texts.paste.wrong}"
                data-again="${texts.paste.again}"
              ></p>
              <button type="submit" class="main">${texts.paste.open}</button>
              <p class="small">${texts.askSender}</p>
            </form>
            <section data-when="unreachable" hidden>
              <h1 tabindex="-1">${texts.unreachable.heading}</h1>
              <p>${texts.unreachable.text}</p>
              <p>${texts.unreachable.next}</p>
            </section>
            <section data-when="busy" hidden>
              <h1 tabindex="-1">${texts.busy.heading}</h1>
              <p>${texts.busy.text}</p>
              <p>${texts.busy.next}</p>
            </section>
            <button type="button" class="main" data-when="unreachable busy" data-retry hidden>
              ${texts.unreachable.retry}
            </button>
          </div>
        </main>
        <footer>
          ${delivered(texts)}
          ${languageForm(texts.languages, texts, languages, ({ endonym }) => endonym, texts.lang)}
        </footer>
        <template data-drawing><script src="${files.drawing}"></script></template>
      </body>
    </html> `.markup.replace(/\n\s*/g, '\n');

/** Renders who the gift is from. */
const sender = ({ reserved }: Texts): Html =>
  html`<p class="sender" data-fill="brand" data-template="${reserved.fromBrand}">${reserved.from}</p>`;

/** Renders what Perkway is, and whom to contact in doubt. */
const delivered = (texts: Texts): Html =>
  html`<p class="small">
    ${shieldIcon}<span
      ><span data-fill="brand" data-template="${texts.delivered.textBrand}">${texts.delivered.text}</span>
      ${texts.footer}</span
    >
  </p>`;

/** Renders the section of a link that was cancelled or replaced, or whose card was withdrawn. */
const ended = (state: 'cancelled' | 'withdrawn' | 'replaced', texts: Texts): Html =>
  html`<section data-when="${state}" hidden>
    <h1 tabindex="-1">${texts[state].heading}</h1>
    <p data-fill="brand" data-template="${texts[state].textBrand}">${texts[state].text}</p>
    ${help('main', texts)}
  </section>`;

/** Renders what a recipient quotes to the sender: the start of the link's id, which is no credential. */
const reference = (texts: Texts): Html =>
  html`<div class="reference" data-reference hidden>
    <p>
      <span class="label">${texts.reference.label}</span>
      <span dir="ltr" translate="no" data-fill="reference"></span>
    </p>
    ${copyButton('reference', texts.reference.copy, texts)}
  </div>`;

/** The name of the product, below the heading. */
const product = html`<p class="product" data-product="row" hidden>
  <bdi data-fill="product" data-product="text" translate="no"></bdi>
</p>`;

const place = ({ reserved }: Texts): Html =>
  html`<div>
    <dt>${reserved.place}</dt>
    <dd data-fill="place"></dd>
  </div>`;

/** Renders a link whose URL the script sets. No referrer is sent, because the page's URL may contain the token. */
const newTab = (className: string, name: string, text: string | Html, texts: Texts): Html =>
  html`<a class="${className}" data-link="${name}" target="_blank" rel="noopener noreferrer" hidden
    >${text} <span class="unseen">${texts.revealed.newTab}</span></a
  >`;

/**
 * Renders a text that names the shop. Its host is an element of its own, together with the punctuation after it, so that
 * no line breaks at a hyphen of the host or before the punctuation.
 */
const withShop = (text: string): Html => {
  const [before, after] = text.split('{shop}') as [string, string];
  const mark = /^[^ ]*/.exec(after)![0];
  return html`<span
    >${before}<span class="host"><bdi data-fill="shop"></bdi>${mark}</span>${after.slice(mark.length)}</span
  >`;
};
const shop = (texts: Texts): Html => newTab('main', 'shop', withShop(texts.revealed.shop), texts);

const help = (className: 'main' | 'quiet', texts: Texts): Html =>
  newTab(
    className,
    'support',
    // One element, so that the text of a button wraps as one.
    html`<span
      ><span data-fill="brand" data-template="${texts.helpBrand}">${texts.help}</span>
      <bdi class="host" data-fill="support" data-template="({support})"></bdi
    ></span>`,
    texts,
  );

const endonyms = (languages: readonly Texts[]): string => languages.map(({ endonym }) => endonym).join(', ');

/**
 * Renders a button per language, in that language. A form without an action keeps the fragment of the page's URL, which
 * is the token, also without a script; a link to `?lang=fr` would lose it.
 */
const languageForm = (
  label: string,
  { offline }: Texts,
  languages: readonly Texts[],
  textOf: (language: Texts) => string,
  current?: string,
): Html =>
  html`<nav aria-label="${label}">
    <form method="get">
      ${languages.map(
        (language) =>
          html`<button
            name="lang"
            value="${language.lang}"
            lang="${language.lang}"
            ${current === language.lang ? CURRENT : ''}
          >
            ${textOf(language)}
          </button>`,
      )}
    </form>
    <p class="wrong" data-offline hidden>${offline}</p>
  </nav>`;
const CURRENT = html`aria-current="true"`;

/** Renders the card code or the PIN with its copy button. */
const secret = (name: 'code' | 'pin', texts: Texts): Html =>
  html`<div class="secret" data-secret="${name}">
    <p class="label" id="${name}-label">${secretText(name, 'label', texts)}</p>
    <p class="value" dir="ltr" translate="no" role="group" aria-labelledby="${name}-label">
      <code data-fill="${name}"></code>
    </p>
    ${name === 'code' ? drawing(texts) : ''} ${copyButton(name, secretText(name, 'copy', texts), texts)}
  </div>`;

/** Renders a text about the PIN, or about the card code: the script changes the latter if the code is a web address. */
const secretText = (name: 'code' | 'pin', text: 'label' | 'copy', { revealed: { secrets } }: Texts): Html =>
  name === 'code'
    ? html`<span data-fill="address" data-template="${secrets.address[text]}">${secrets.code[text]}</span>`
    : html`${secrets.pin[text]}`;

/** Renders the barcode or QR code, and a dialog that shows it as large as the screen, with the code and PIN below it. */
const drawing = ({ revealed }: Texts): Html =>
  html`<div class="drawing" role="img" aria-label="${revealed.drawing}" data-draw hidden></div>
    <button type="button" class="copy" data-enlarge hidden>
      ${enlargeIcon}<span>${revealed.enlarge}</span>
    </button>
    <dialog aria-label="${revealed.drawing}">
      <div role="img" aria-label="${revealed.drawing}" data-large></div>
      <div class="large-code" translate="no">
        <p dir="ltr" data-large-code></p>
        <p class="large-pin">
          <span class="label">${revealed.secrets.pin.label}</span> <span dir="ltr" data-large-pin></span>
        </p>
      </div>
      <button type="button" class="copy" data-close>${revealed.close}</button>
    </dialog>`;

/** Renders the button that copies the value of this name. */
const copyButton = (name: string, text: string | Html, { revealed }: Texts): Html =>
  html`<button type="button" class="copy" data-copy="${name}" data-failed="${revealed.copyFailed}">
    ${copyIcon}${confirmed(text, revealed.copied)}
  </button>`;

/** Renders the text of a button, and the text that confirms it for a while. */
const confirmed = (text: string | Html, done: string): Html =>
  html`<span data-label>${text}</span><span data-done hidden>${done}</span>`;

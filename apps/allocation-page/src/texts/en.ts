import type { Texts } from './texts.js';

export const en: Texts = {
  lang: 'en',
  dir: 'ltr',
  endonym: 'English',
  languages: 'Language',
  offline:
    'You are offline. You can change the language once you are connected again. Until then, this page stays as it is.',
  thisLanguage: 'This page is available in English',
  title: 'Your gift card',
  description:
    'A gift card for you. Perkway delivers it for a company, and this page never asks for a payment or a password.',
  giftCard: 'Gift card',
  loading: {
    heading: 'Looking for your gift card…',
    slow: 'Your connection seems slow. Please keep this page open.',
    stuck: 'Something seems to be missing. Please reload this page, or open the link in another browser.',
  },
  noScript: {
    heading: 'This page needs JavaScript',
    text: 'This page uses JavaScript to show your gift card, and JavaScript is turned off in your browser. Turn it on and reload this page, or open the link on another device.',
    safe: 'Nothing is lost: your link stays as it is.',
  },
  reserved: {
    from: 'A gift from the company that sent you this link',
    fromBrand: 'A gift from {brand}',
    heading: 'You have a gift card worth {amount}',
    place: 'Valid in',
    until: 'Open it by',
    after: 'If you do not open the card by then, it goes back to the sender.',
    show: 'Open the card',
    opening: 'Opening…',
    sealed:
      'Opening the card only shows its code: the full value stays on it. After that, this page shows the code whenever you open the link. Anyone with the link can open the card, so please do not share it.',
  },
  revealed: {
    heading: 'Here is your {amount} gift card',
    secrets: {
      code: { label: 'Card code', copy: 'Copy code' },
      address: { label: 'Card link', copy: 'Copy link' },
      pin: { label: 'PIN', copy: 'Copy PIN' },
    },
    copied: 'Copied',
    copyFailed: 'Copying did not work. The text is selected: copy it by hand.',
    drawing: 'The code for the checkout',
    enlarge: 'Enlarge the code',
    close: 'Close',
    how: 'How to use it',
    ofIssuer: 'From the issuer',
    ofIssuerIn: 'From the issuer (in {language})',
    inStore: 'In a store: show the code above at the checkout.',
    howShop: 'Online: go to {shop} and enter the card code.',
    howPin: 'If you are asked for a PIN, use the one above.',
    howAddress: {
      open: 'Your card is at {shop}, on a page of its issuer: open the card link above and follow the steps on that page to use it.',
      keep: 'Keep the card link until the whole value is spent. Anyone who has it can use the card, so please do not share it.',
      failed:
        'If the card does not open, try again later or copy the card link to another browser. If it still does not open, ask the sender for help and give the reference below.',
      failedBrand:
        'If the card does not open, try again later or copy the card link to another browser. If it still does not open, ask {brand} for help and give the reference below.',
    },
    balance: 'To find out how much is left on the card, ask {shop}: Perkway does not know the balance.',
    askWhere:
      'To find out where you can use this card, reply to the message that contained the link and ask the sender.',
    askWhereBrand:
      'To find out where you can use this card, reply to the message that contained the link, or contact {brand} through its official website.',
    shop: 'Go to {shop}',
    terms: 'Terms of the card',
    newTab: '(opens in a new tab)',
    print: 'Print',
    save: 'Save as picture',
    saved: 'The picture has been saved',
    validUntil: 'Card expires on',
    noLastDay: 'The issuer gives no date',
    openedNow: 'Opened at {time}',
    openedBefore: 'First opened {moment}. Not you? Somebody else may have used the code.',
    firstOpened: 'First opened on',
    notYou:
      'If that was not you, somebody else has seen the code and may have used it. Please ask the sender for help.',
    notYouBrand:
      'If that was not you, somebody else has seen the code and may have used it. Please ask {brand} for help.',
    replaced: {
      heading: 'This card has been replaced',
      text: 'Please use the new card instead. Its link is in a more recent message. The code of the old card may no longer work.',
      show: 'Show the old card',
    },
    keep: 'Keep the link to this page',
    keepWhy:
      'It has no deadline any more: it shows the card at any time, but not how much of its value is left. Bookmark it or keep the message it came in.',
    keepCode:
      'Before you go to a store, save the card as a picture: you can open it without internet. Treat the code like cash: never give it to anybody who calls or writes to you.',
  },
  expired: {
    heading: 'This link has expired',
    when: 'The card had to be opened by {date}.',
    next: 'Its value was not spent: the card went back to the sender. Please ask them for a new link.',
    nextBrand: 'Its value was not spent: the card went back to {brand}. Please ask {brand} for a new link.',
  },
  cancelled: {
    heading: 'This link has been cancelled',
    text: 'It no longer works: the sender has cancelled it. Please ask the company that sent it to you.',
    textBrand: 'It no longer works: the sender has cancelled it. Please ask {brand}.',
  },
  withdrawn: {
    heading: 'This gift card has been withdrawn',
    text: 'The issuer has recalled this card, so the link no longer works. Please ask the company that sent it to you for a new link.',
    textBrand:
      'The issuer has recalled this card, so the link no longer works. Please ask {brand} for a new link.',
  },
  replaced: {
    heading: 'This link has been replaced',
    text: 'It no longer works: a new link was made in its place. Open the new one from your messages, or ask the company that sent it to you.',
    textBrand:
      'It no longer works: a new link was made in its place. Open the new one from your messages, or ask {brand}.',
  },
  reference: {
    label: 'Reference for support',
    copy: 'Copy reference',
  },
  help: 'Get help',
  helpBrand: 'Get help from {brand}',
  askSender: 'If you still cannot open it, ask the sender of the message with the link.',
  unknown: {
    heading: 'This link does not work',
    text: 'Part of it was probably lost on the way. Open it from the message again, or copy the whole link and paste it here.',
  },
  missing: {
    heading: 'Your gift link is incomplete',
    text: 'Part of your link is missing. Some mail programs cut links short. Copy the whole link from your message and paste it here.',
  },
  unreachable: {
    heading: 'We cannot reach your card right now',
    text: 'Your internet connection was interrupted, or our service is unavailable for a moment. Your gift card is safe and your link stays valid, even if you were just opening the card.',
    next: 'Check your connection and try again. As soon as your connection is back, this page also tries again by itself.',
    retry: 'Try again',
  },
  busy: {
    heading: 'Please wait a minute',
    text: 'Too many invalid gift links were opened from your network in a short time, perhaps by somebody else who uses it. That is why this page asks you to wait.',
    next: 'Your gift card is safe, and your link stays as it is. Please try again in a minute.',
  },
  paste: {
    label: 'Your gift link',
    open: 'Open the link',
    empty: 'This field is empty. Please paste your gift link here.',
    wrong: 'This does not look like a gift link. Please copy it from your message again.',
    again:
      'This link does not work either. Please copy the whole link from your message, to its last character.',
  },
  delivered: {
    text: 'Perkway delivers gift cards for companies and runs this page. Your gift card comes from the sender of the message with this link: please ask them if you have questions. If you do not know who sent it, you need not open the card: it then goes back to the sender.',
    textBrand:
      'Perkway delivers gift cards for {brand} and runs this page. If you are not sure that it is genuine, contact {brand} through its official website.',
  },
  footer: 'This page never asks for a payment, a password or personal data.',
};

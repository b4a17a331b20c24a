/** The label of a value, and the text of the button that copies the value. */
interface CopyTexts {
  label: string;
  copy: string;
}

/**
 * All texts of the page in one language. The browser replaces `{amount}`, `{brand}`, `{date}`, `{language}`,
 * `{moment}`, `{shop}` (a host) and `{time}` with the values of the link.
 */
export interface Texts {
  /** BCP 47 tag. */
  lang: string;
  dir: 'ltr' | 'rtl';
  /** The language's own name, for the language buttons. */
  endonym: string;
  languages: string;
  /** Shown when the reader chooses a language while offline. */
  offline: string;
  /** Shown to readers of other languages, once in each language of the page. */
  thisLanguage: string;
  title: string;
  description: string;
  giftCard: string;
  loading: { heading: string; slow: string; stuck: string };
  noScript: { heading: string; text: string; safe: string };
  reserved: {
    from: string;
    fromBrand: string;
    heading: string;
    place: string;
    until: string;
    /** What happens after that time. */
    after: string;
    show: string;
    opening: string;
    sealed: string;
  };
  revealed: {
    heading: string;
    /** `address` replaces `code` if the card code is a web address. */
    secrets: Record<'code' | 'address' | 'pin', CopyTexts>;
    copied: string;
    copyFailed: string;
    /** Accessible name of the barcode or QR code. */
    drawing: string;
    /** Shows the barcode or QR code as large as the screen. */
    enlarge: string;
    close: string;
    how: string;
    /** Heads the instructions of the product. */
    ofIssuer: string;
    /** The same for instructions in another language than that of the page. */
    ofIssuerIn: string;
    /** Shown if the product's codes are for a checkout scanner, and the code is not a web address. */
    inStore: string;
    /** Shown if the product has a shop to go to, and the code is not a web address. */
    howShop: string;
    /** Shown if the card has a PIN. */
    howPin: string;
    /** Shown if the code is a web address: where the card is, to keep the address, and what to do if it fails. */
    howAddress: { open: string; keep: string; failed: string; failedBrand: string };
    /** Shown if the shop is known, because Perkway does not know the balance of a card. */
    balance: string;
    /** Shown if the product has no shop to go to, and no instructions in the language of the page. */
    askWhere: string;
    askWhereBrand: string;
    shop: string;
    terms: string;
    newTab: string;
    print: string;
    save: string;
    saved: string;
    validUntil: string;
    /** Shown if the card has no last day. */
    noLastDay: string;
    /** Shown when the link is opened again within minutes, probably by the same person, for example in another language. */
    openedNow: string;
    /** Shown when the link is opened again later, below the heading; `firstOpened` and `notYou` say more further down. */
    openedBefore: string;
    firstOpened: string;
    notYou: string;
    notYouBrand: string;
    /**
     * Shown if another link was made in place of this one: `heading` instead of the one above, what to do,
     * and the label that unfolds the old card.
     */
    replaced: { heading: string; text: string; show: string };
    keep: string;
    keepWhy: string;
    /** Not for a card whose code is a web address. */
    keepCode: string;
  };
  expired: { heading: string; when: string; next: string; nextBrand: string };
  /** The sender has cancelled the link. */
  cancelled: { heading: string; text: string; textBrand: string };
  /** The issuer has recalled the card. */
  withdrawn: { heading: string; text: string; textBrand: string };
  /** The sender has made another link in place of this one. */
  replaced: { heading: string; text: string; textBrand: string };
  /** For the start of the link's id, which a recipient quotes to the sender. */
  reference: CopyTexts;
  help: string;
  helpBrand: string;
  /** Shown where the page cannot name the sender. */
  askSender: string;
  unknown: { heading: string; text: string };
  missing: { heading: string; text: string };
  unreachable: { heading: string; text: string; next: string; retry: string };
  /** Also shown to a reader whose link is unknown, so it does not say that the link works. */
  busy: { heading: string; text: string; next: string };
  paste: {
    label: string;
    open: string;
    empty: string;
    wrong: string;
    /** Shown if a second link is unknown, too. */ again: string;
  };
  /** Says what Perkway is, and whom to contact in doubt. Without a brand, the page cannot name the sender. */
  delivered: { text: string; textBrand: string };
  footer: string;
}

import type { Texts } from './texts.js';

export const de: Texts = {
  lang: 'de',
  dir: 'ltr',
  endonym: 'Deutsch',
  languages: 'Sprache',
  offline:
    'Sie sind offline. Sobald wieder eine Verbindung besteht, können Sie die Sprache wechseln. Bis dahin bleibt diese Seite, wie sie ist.',
  thisLanguage: 'Diese Seite gibt es auf Deutsch',
  title: 'Ihre Geschenkkarte',
  description:
    'Eine Geschenkkarte für Sie. Perkway stellt sie im Auftrag eines Unternehmens zu, und diese Seite verlangt nie eine Zahlung oder ein Passwort.',
  giftCard: 'Geschenkkarte',
  loading: {
    heading: 'Ihre Geschenkkarte wird geladen…',
    slow: 'Ihre Verbindung scheint langsam zu sein. Bitte lassen Sie diese Seite geöffnet.',
    stuck:
      'Es scheint etwas zu fehlen. Bitte laden Sie diese Seite neu, oder öffnen Sie den Link in einem anderen Browser.',
  },
  noScript: {
    heading: 'Diese Seite braucht JavaScript',
    text: 'Die Seite zeigt Ihre Geschenkkarte mit JavaScript an, und das ist in Ihrem Browser ausgeschaltet. Schalten Sie es ein und laden Sie die Seite neu, oder öffnen Sie den Link auf einem anderen Gerät.',
    safe: 'Es geht nichts verloren: Ihr Link bleibt, wie er ist.',
  },
  reserved: {
    from: 'Ein Geschenk des Unternehmens, das Ihnen diesen Link geschickt hat',
    fromBrand: 'Ein Geschenk von {brand}',
    heading: 'Sie haben eine Geschenkkarte über {amount}',
    place: 'Einlösbar in diesem Land',
    until: 'Zu öffnen bis',
    after: 'Wird die Karte bis dahin nicht geöffnet, geht sie an den Absender zurück.',
    show: 'Karte öffnen',
    opening: 'Wird geöffnet…',
    sealed:
      'Beim Öffnen wird nur der Code angezeigt: Das Guthaben bleibt unberührt. Danach sehen Sie den Code, sooft Sie den Link aufrufen. Jeder, der den Link hat, kann die Karte öffnen: Geben Sie ihn bitte nicht weiter.',
  },
  revealed: {
    heading: 'Ihre Geschenkkarte über {amount}',
    secrets: {
      code: { label: 'Kartencode', copy: 'Code kopieren' },
      address: { label: 'Link zur Karte', copy: 'Link kopieren' },
      pin: { label: 'PIN', copy: 'PIN kopieren' },
    },
    copied: 'Kopiert',
    copyFailed: 'Das Kopieren hat nicht geklappt. Der Text ist markiert: Kopieren Sie ihn bitte von Hand.',
    drawing: 'Der Code für die Kasse',
    enlarge: 'Code vergrößern',
    close: 'Schließen',
    how: 'So lösen Sie die Karte ein',
    ofIssuer: 'Hinweise des Ausstellers',
    ofIssuerIn: 'Hinweise des Ausstellers (auf {language})',
    inStore: 'Im Geschäft: Zeigen Sie den Code oben an der Kasse vor.',
    howShop: 'Online: Gehen Sie zu {shop} und geben Sie dort den Kartencode ein.',
    howPin: 'Falls Sie nach einer PIN gefragt werden, verwenden Sie die PIN oben.',
    howAddress: {
      open: 'Ihre Karte finden Sie bei {shop}, auf einer Seite ihres Ausstellers: Öffnen Sie den Link zur Karte oben und folgen Sie dort den Anweisungen, um die Karte einzulösen.',
      keep: 'Heben Sie den Link zur Karte auf, bis das Guthaben aufgebraucht ist. Jeder, der ihn hat, kann die Karte einlösen: Geben Sie ihn bitte nicht weiter.',
      failed:
        'Wenn sich die Karte nicht öffnet, versuchen Sie es später noch einmal oder kopieren Sie den Link zur Karte in einen anderen Browser. Wenn das nicht hilft, bitten Sie den Absender um Hilfe und nennen Sie die Referenz unten.',
      failedBrand:
        'Wenn sich die Karte nicht öffnet, versuchen Sie es später noch einmal oder kopieren Sie den Link zur Karte in einen anderen Browser. Wenn das nicht hilft, bitten Sie {brand} um Hilfe und nennen Sie die Referenz unten.',
    },
    balance: 'Wie viel Guthaben noch auf der Karte ist, erfahren Sie bei {shop}: Perkway weiß es nicht.',
    askWhere:
      'Wenn Sie wissen möchten, wo Sie die Karte einlösen können, antworten Sie auf die Nachricht, die den Link enthielt, und fragen Sie den Absender.',
    askWhereBrand:
      'Wenn Sie wissen möchten, wo Sie die Karte einlösen können, antworten Sie auf die Nachricht, die den Link enthielt, oder wenden Sie sich über die offizielle Website an {brand}.',
    shop: 'Weiter zu {shop}',
    terms: 'Kartenbedingungen',
    newTab: '(öffnet einen neuen Tab)',
    print: 'Drucken',
    save: 'Als Bild speichern',
    saved: 'Das Bild wurde gespeichert',
    validUntil: 'Karte gültig bis',
    noLastDay: 'Der Aussteller nennt kein Datum',
    openedNow: 'Geöffnet um {time} Uhr',
    openedBefore: 'Zuerst geöffnet: {moment}. Nicht von Ihnen? Jemand kennt den Code.',
    firstOpened: 'Zum ersten Mal geöffnet am',
    notYou:
      'Wenn das nicht Sie waren, kennt noch jemand den Code und hat ihn vielleicht eingelöst. Bitten Sie den Absender um Hilfe.',
    notYouBrand:
      'Wenn das nicht Sie waren, kennt noch jemand den Code und hat ihn vielleicht eingelöst. Bitten Sie {brand} um Hilfe.',
    replaced: {
      heading: 'Diese Karte wurde ersetzt',
      text: 'Bitte verwenden Sie die neue Karte: Den Link dazu finden Sie in einer neueren Nachricht. Der Code der alten Karte funktioniert möglicherweise nicht mehr.',
      show: 'Alte Karte anzeigen',
    },
    keep: 'Heben Sie den Link zu dieser Seite auf',
    keepWhy:
      'Die Frist gilt nicht mehr: Mit dem Link können Sie die Karte jederzeit wieder ansehen, nicht aber das restliche Guthaben. Legen Sie ein Lesezeichen an oder bewahren Sie die Nachricht auf.',
    keepCode:
      'Speichern Sie die Karte als Bild, bevor Sie in ein Geschäft gehen: Das Bild lässt sich auch ohne Internet öffnen. Behandeln Sie den Code wie Bargeld: Nennen Sie ihn niemandem, der Sie anruft oder Ihnen schreibt.',
  },
  expired: {
    heading: 'Dieser Link ist abgelaufen',
    when: 'Die Karte wurde bis {date} nicht geöffnet.',
    next: 'Der Wert wurde nicht verbraucht: Die Karte ging an den Absender zurück. Bitten Sie ihn um einen neuen Link.',
    nextBrand:
      'Der Wert wurde nicht verbraucht: Die Karte ging an {brand} zurück. Bitten Sie {brand} um einen neuen Link.',
  },
  cancelled: {
    heading: 'Dieser Link wurde zurückgezogen',
    text: 'Er funktioniert nicht mehr: Der Absender hat ihn zurückgezogen. Bitte fragen Sie das Unternehmen, das ihn Ihnen geschickt hat.',
    textBrand:
      'Er funktioniert nicht mehr: Der Absender hat ihn zurückgezogen. Bitte fragen Sie bei {brand} nach.',
  },
  withdrawn: {
    heading: 'Diese Geschenkkarte wurde zurückgerufen',
    text: 'Ihr Aussteller hat sie zurückgerufen, deshalb funktioniert der Link nicht mehr. Bitten Sie den Absender um einen neuen Link.',
    textBrand:
      'Ihr Aussteller hat sie zurückgerufen, deshalb funktioniert der Link nicht mehr. Bitten Sie {brand} um einen neuen Link.',
  },
  replaced: {
    heading: 'Dieser Link wurde ersetzt',
    text: 'Er funktioniert nicht mehr: Für Sie gibt es einen neuen Link. Suchen Sie ihn in Ihren Nachrichten, oder fragen Sie beim Absender nach.',
    textBrand:
      'Er funktioniert nicht mehr: Für Sie gibt es einen neuen Link. Suchen Sie ihn in Ihren Nachrichten, oder fragen Sie bei {brand} nach.',
  },
  reference: {
    label: 'Referenz für Rückfragen',
    copy: 'Referenz kopieren',
  },
  help: 'Hilfe',
  helpBrand: 'Hilfe von {brand}',
  askSender:
    'Wenn das nicht hilft, wenden Sie sich an den Absender der Nachricht, in der Sie den Link erhalten haben.',
  unknown: {
    heading: 'Dieser Link funktioniert nicht',
    text: 'Wahrscheinlich ist unterwegs ein Teil verloren gegangen. Öffnen Sie ihn noch einmal aus der Nachricht, oder kopieren Sie den ganzen Link und fügen Sie ihn hier ein.',
  },
  missing: {
    heading: 'Ihr Geschenklink ist unvollständig',
    text: 'Ein Teil Ihres Links fehlt. Manche Mailprogramme kürzen Links. Kopieren Sie den ganzen Link aus Ihrer Nachricht und fügen Sie ihn hier ein.',
  },
  unreachable: {
    heading: 'Ihre Karte ist gerade nicht erreichbar',
    text: 'Ihre Internetverbindung wurde unterbrochen, oder unser Dienst ist kurz nicht verfügbar. Ihre Geschenkkarte ist sicher und Ihr Link bleibt gültig, auch wenn Sie die Karte gerade öffnen wollten.',
    next: 'Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal. Sobald die Verbindung wieder da ist, versucht es diese Seite auch von selbst.',
    retry: 'Noch einmal versuchen',
  },
  busy: {
    heading: 'Bitte warten Sie eine Minute',
    text: 'Aus Ihrem Netzwerk wurden in kurzer Zeit zu viele ungültige Geschenklinks aufgerufen, vielleicht von jemand anderem. Deshalb müssen Sie kurz warten.',
    next: 'Ihre Geschenkkarte ist sicher, und Ihr Link bleibt, wie er ist. Bitte versuchen Sie es in einer Minute noch einmal.',
  },
  paste: {
    label: 'Ihr Geschenklink',
    open: 'Link öffnen',
    empty: 'Das Feld ist leer. Bitte fügen Sie hier Ihren Geschenklink ein.',
    wrong:
      'Das sieht nicht nach einem Geschenklink aus. Bitte kopieren Sie ihn noch einmal aus Ihrer Nachricht.',
    again:
      'Auch dieser Link funktioniert nicht. Bitte kopieren Sie den ganzen Link aus Ihrer Nachricht, bis zum letzten Zeichen.',
  },
  delivered: {
    text: 'Perkway stellt Geschenkkarten im Auftrag von Unternehmen zu und betreibt diese Seite. Ihre Geschenkkarte kommt vom Absender der Nachricht mit diesem Link: Bitte wenden Sie sich mit Fragen an ihn. Wenn Sie nicht wissen, von wem die Nachricht kommt, müssen Sie die Karte nicht öffnen: Sie geht dann an den Absender zurück.',
    textBrand:
      'Perkway stellt Geschenkkarten im Auftrag von {brand} zu und betreibt diese Seite. Wenn Sie nicht sicher sind, ob sie echt ist, wenden Sie sich über die offizielle Website an {brand}.',
  },
  footer: 'Diese Seite verlangt nie eine Zahlung, ein Passwort oder persönliche Daten.',
};

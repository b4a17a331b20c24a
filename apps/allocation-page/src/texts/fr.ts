import type { Texts } from './texts.js';

export const fr: Texts = {
  lang: 'fr',
  dir: 'ltr',
  endonym: 'Français',
  languages: 'Langue',
  offline:
    'Vous êtes hors connexion. Vous pourrez changer de langue dès que la connexion sera rétablie. D’ici là, cette page reste telle quelle.',
  thisLanguage: 'Cette page existe en français',
  title: 'Votre carte cadeau',
  description:
    'Une carte cadeau pour vous. Perkway la met à disposition pour le compte d’une entreprise, et cette page ne demande jamais de paiement ni de mot de passe.',
  giftCard: 'Carte cadeau',
  loading: {
    heading: 'Nous cherchons votre carte cadeau…',
    slow: 'Votre connexion semble lente. Veuillez garder cette page ouverte.',
    stuck:
      'Il semble manquer quelque chose. Rechargez cette page, ou ouvrez le lien dans un autre navigateur.',
  },
  noScript: {
    heading: 'Cette page nécessite JavaScript',
    text: 'Cette page affiche votre carte cadeau à l’aide de JavaScript, qui est désactivé dans votre navigateur. Activez-le et rechargez la page, ou ouvrez le lien sur un autre appareil.',
    safe: 'Rien n’est perdu\u00a0: votre lien reste tel quel.',
  },
  reserved: {
    from: 'Un cadeau de l’entreprise qui vous a envoyé ce lien',
    fromBrand: 'Un cadeau de {brand}',
    heading: 'Vous avez reçu une carte cadeau de {amount}',
    place: 'Pays d’utilisation',
    until: 'À ouvrir au plus tard le',
    after: 'Si vous n’ouvrez pas la carte d’ici là, elle sera renvoyée à l’expéditeur.',
    show: 'Ouvrir la carte',
    opening: 'Ouverture…',
    sealed:
      'Ouvrir la carte n’affiche que son code\u00a0: sa valeur reste intacte. Ensuite, cette page affiche le code chaque fois que vous suivez le lien. Toute personne qui a le lien peut ouvrir la carte\u00a0: merci de ne pas le transmettre.',
  },
  revealed: {
    heading: 'Voici votre carte cadeau de {amount}',
    secrets: {
      code: { label: 'Code de la carte', copy: 'Copier le code' },
      address: { label: 'Lien vers la carte', copy: 'Copier le lien' },
      pin: { label: 'Code PIN', copy: 'Copier le code PIN' },
    },
    copied: 'Copié',
    copyFailed: 'La copie n’a pas fonctionné. Le texte est sélectionné\u00a0: copiez-le à la main.',
    drawing: 'Le code pour la caisse',
    enlarge: 'Agrandir le code',
    close: 'Fermer',
    how: 'Comment l’utiliser',
    ofIssuer: 'Indications de l’émetteur',
    ofIssuerIn: 'Indications de l’émetteur (en {language})',
    inStore: 'En magasin\u00a0: présentez le code ci-dessus à la caisse.',
    howShop: 'En ligne\u00a0: allez sur {shop} et saisissez-y le code de la carte.',
    howPin: 'Si un code PIN vous est demandé, utilisez celui qui figure ci-dessus.',
    howAddress: {
      open: 'Votre carte se trouve sur une page de son émetteur, à l’adresse {shop}\u00a0: ouvrez le lien vers la carte ci-dessus et suivez les indications de cette page pour l’utiliser.',
      keep: 'Conservez le lien vers la carte jusqu’à ce que toute sa valeur soit dépensée. Toute personne qui a ce lien peut utiliser la carte\u00a0: merci de ne pas le transmettre.',
      failed:
        'Si la carte ne s’ouvre pas, réessayez plus tard ou copiez le lien vers la carte dans un autre navigateur. Si cela ne suffit pas, demandez de l’aide à l’expéditeur et indiquez-lui la référence ci-dessous.',
      failedBrand:
        'Si la carte ne s’ouvre pas, réessayez plus tard ou copiez le lien vers la carte dans un autre navigateur. Si cela ne suffit pas, demandez de l’aide à {brand} et indiquez la référence ci-dessous.',
    },
    balance:
      'Pour connaître le solde de la carte, renseignez-vous auprès de {shop}\u00a0: Perkway ne le connaît pas.',
    askWhere:
      'Pour savoir où utiliser cette carte, répondez au message qui contenait le lien et posez la question à l’expéditeur.',
    askWhereBrand:
      'Pour savoir où utiliser cette carte, répondez au message qui contenait le lien, ou contactez {brand} en passant par son site officiel.',
    shop: 'Aller sur {shop}',
    terms: 'Conditions de la carte',
    newTab: '(s’ouvre dans un nouvel onglet)',
    print: 'Imprimer',
    save: 'Enregistrer comme image',
    saved: 'L’image a été enregistrée',
    validUntil: 'Date d’expiration',
    noLastDay: 'L’émetteur n’indique aucune date',
    openedNow: 'Ouverte à {time}',
    openedBefore:
      'Première ouverture\u00a0: {moment}. Ce n’était pas vous\u00a0? Quelqu’un d’autre a peut-être utilisé le code.',
    firstOpened: 'Ouverte pour la première fois le',
    notYou:
      'Si ce n’était pas vous, quelqu’un d’autre connaît le code et l’a peut-être utilisé. Demandez de l’aide à l’expéditeur.',
    notYouBrand:
      'Si ce n’était pas vous, quelqu’un d’autre connaît le code et l’a peut-être utilisé. Demandez de l’aide à {brand}.',
    replaced: {
      heading: 'Cette carte a été remplacée',
      text: 'Utilisez la nouvelle carte\u00a0: vous trouverez le lien dans un message plus récent. Le code de l’ancienne carte ne fonctionne peut-être plus.',
      show: 'Afficher l’ancienne carte',
    },
    keep: 'Conservez le lien de cette page',
    keepWhy:
      'Il n’a plus de date limite\u00a0: il vous permet de revoir la carte à tout moment, mais pas le solde restant. Ajoutez-le à vos favoris ou conservez le message reçu.',
    keepCode:
      'Avant d’aller en magasin, enregistrez la carte comme image\u00a0: vous pourrez l’afficher sans connexion Internet. Le code vaut de l’argent\u00a0: ne le communiquez jamais à quiconque vous appelle ou vous écrit.',
  },
  expired: {
    heading: 'Ce lien a expiré',
    when: 'La carte n’a pas été ouverte avant la date limite, le {date}.',
    next: 'Sa valeur n’a pas été dépensée\u00a0: la carte est revenue à l’expéditeur. Demandez-lui un nouveau lien.',
    nextBrand:
      'Sa valeur n’a pas été dépensée\u00a0: la carte est revenue à {brand}. Veuillez demander un nouveau lien à {brand}.',
  },
  cancelled: {
    heading: 'Ce lien a été annulé',
    text: 'Il ne fonctionne plus\u00a0: l’expéditeur l’a annulé. Contactez l’entreprise qui vous l’a envoyé.',
    textBrand: 'Il ne fonctionne plus\u00a0: l’expéditeur l’a annulé. Contactez {brand}.',
  },
  withdrawn: {
    heading: 'Cette carte cadeau a été retirée',
    text: 'Son émetteur l’a rappelée\u00a0: le lien ne fonctionne plus. Demandez un nouveau lien à l’entreprise qui vous l’a envoyé.',
    textBrand:
      'Son émetteur l’a rappelée\u00a0: le lien ne fonctionne plus. Veuillez demander un nouveau lien à {brand}.',
  },
  replaced: {
    heading: 'Ce lien a été remplacé',
    text: 'Il ne fonctionne plus\u00a0: un nouveau lien a été créé à sa place. Ouvrez le nouveau depuis vos messages, ou contactez l’entreprise qui vous l’a envoyé.',
    textBrand:
      'Il ne fonctionne plus\u00a0: un nouveau lien a été créé à sa place. Ouvrez le nouveau depuis vos messages, ou contactez {brand}.',
  },
  reference: {
    label: 'Référence pour l’assistance',
    copy: 'Copier la référence',
  },
  help: 'Obtenir de l’aide',
  helpBrand: 'Obtenir de l’aide auprès de {brand}',
  askSender: 'Si cela ne suffit pas, adressez-vous à l’expéditeur du message qui contenait le lien.',
  unknown: {
    heading: 'Ce lien ne fonctionne pas',
    text: 'Une partie s’est sans doute perdue en route. Ouvrez-le de nouveau depuis le message, ou copiez le lien entier et collez-le ici.',
  },
  missing: {
    heading: 'Votre lien cadeau est incomplet',
    text: 'Il manque une partie de votre lien. Certaines messageries coupent les liens. Copiez le lien entier depuis votre message et collez-le ici.',
  },
  unreachable: {
    heading: 'Votre carte est momentanément inaccessible',
    text: 'Votre connexion Internet a été interrompue, ou notre service est indisponible pour le moment. Votre carte cadeau est en sécurité et votre lien reste valable, même si vous étiez en train d’ouvrir la carte.',
    next: 'Vérifiez votre connexion et réessayez. Dès que la connexion est rétablie, cette page réessaie aussi d’elle-même.',
    retry: 'Réessayer',
  },
  busy: {
    heading: 'Merci de patienter une minute',
    text: 'Trop de liens cadeaux non valides ont été ouverts en peu de temps depuis votre réseau, peut-être par quelqu’un d’autre. C’est pourquoi cette page vous demande de patienter.',
    next: 'Votre carte cadeau est en sécurité et votre lien reste tel quel. Réessayez dans une minute.',
  },
  paste: {
    label: 'Votre lien cadeau',
    open: 'Ouvrir le lien',
    empty: 'Ce champ est vide. Collez-y votre lien cadeau.',
    wrong: 'Cela ne ressemble pas à un lien cadeau. Copiez-le encore une fois depuis votre message.',
    again:
      'Ce lien ne fonctionne pas non plus. Copiez le lien entier depuis votre message, jusqu’au dernier caractère.',
  },
  delivered: {
    text: 'Perkway met à disposition des cartes cadeaux pour le compte d’entreprises et gère cette page. Votre carte cadeau vient de l’expéditeur du message qui contenait ce lien\u00a0: adressez-lui vos questions. Si vous ne savez pas qui l’a envoyé, rien ne vous oblige à ouvrir la carte\u00a0: elle revient alors à l’expéditeur.',
    textBrand:
      'Perkway met à disposition des cartes cadeaux pour le compte de {brand} et gère cette page. En cas de doute sur son authenticité, contactez {brand} en passant par son site officiel.',
  },
  footer: 'Cette page ne demande jamais de paiement, de mot de passe ni de données personnelles.',
};

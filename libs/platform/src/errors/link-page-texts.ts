interface Text {
  title: string;
  text: string;
}
/** Texts of the page for a link that is unknown or cannot be resolved now. */
interface LinkPageTexts {
  broken: Text;
  unavailable: Text;
}

/** Texts by language. The first language is the default. */
export const LINK_PAGE_TEXTS: Readonly<Record<string, LinkPageTexts>> = {
  en: {
    broken: {
      title: 'This link does not work',
      text: 'It may be incomplete, or the offer may no longer exist. Please go back to the page or message you found it in and try the link there again.',
    },
    unavailable: {
      title: 'Please try again in a moment',
      text: 'We cannot open the offer right now. Nothing is wrong with your link: reload this page in a few seconds.',
    },
  },
  de: {
    broken: {
      title: 'Dieser Link funktioniert nicht',
      text: 'Vielleicht ist er unvollständig, oder es gibt das Angebot nicht mehr. Bitte gehen Sie zu der Seite oder Nachricht zurück, in der Sie ihn gefunden haben, und versuchen Sie es dort noch einmal.',
    },
    unavailable: {
      title: 'Bitte versuchen Sie es gleich noch einmal',
      text: 'Wir können das Angebot gerade nicht öffnen. Mit Ihrem Link ist alles in Ordnung: Laden Sie diese Seite in ein paar Sekunden neu.',
    },
  },
  fr: {
    broken: {
      title: 'Ce lien ne fonctionne pas',
      text: 'Il est peut-être incomplet, ou l’offre n’existe plus. Revenez à la page ou au message où vous l’avez trouvé et réessayez depuis là.',
    },
    unavailable: {
      title: 'Veuillez réessayer dans un instant',
      text: 'Nous ne pouvons pas ouvrir l’offre pour le moment. Votre lien est correct : rechargez cette page dans quelques secondes.',
    },
  },
  es: {
    broken: {
      title: 'Este enlace no funciona',
      text: 'Puede que esté incompleto o que la oferta ya no exista. Vuelva a la página o al mensaje donde lo encontró e inténtelo desde allí.',
    },
    unavailable: {
      title: 'Vuelva a intentarlo en un momento',
      text: 'Ahora mismo no podemos abrir la oferta. Su enlace está bien: vuelva a cargar esta página dentro de unos segundos.',
    },
  },
};

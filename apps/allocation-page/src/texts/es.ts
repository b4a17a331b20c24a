import type { Texts } from './texts.js';

export const es: Texts = {
  lang: 'es',
  dir: 'ltr',
  endonym: 'Español',
  languages: 'Idioma',
  offline:
    'No tiene conexión a internet. Podrá cambiar el idioma en cuanto la recupere. Hasta entonces, esta página sigue igual.',
  thisLanguage: 'Esta página está disponible en español',
  title: 'Su tarjeta regalo',
  description:
    'Una tarjeta regalo para usted. Perkway la entrega en nombre de una empresa, y esta página nunca le pide un pago ni una contraseña.',
  giftCard: 'Tarjeta regalo',
  loading: {
    heading: 'Buscando su tarjeta regalo…',
    slow: 'Su conexión parece lenta. Mantenga esta página abierta, por favor.',
    stuck: 'Parece que falta algo. Recargue esta página o abra el enlace en otro navegador.',
  },
  noScript: {
    heading: 'Esta página necesita JavaScript',
    text: 'Esta página muestra su tarjeta regalo con JavaScript, que está desactivado en su navegador. Actívelo y recargue la página, o abra el enlace en otro dispositivo.',
    safe: 'No se pierde nada: su enlace sigue igual.',
  },
  reserved: {
    from: 'Un regalo de la empresa que le envió este enlace',
    fromBrand: 'Un regalo de {brand}',
    heading: 'Tiene una tarjeta regalo de {amount}',
    place: 'País de uso',
    until: 'Fecha límite para abrirla',
    after: 'Si no abre la tarjeta antes de esa fecha, se devolverá a quien la envió.',
    show: 'Abrir la tarjeta',
    opening: 'Abriendo…',
    sealed:
      'Al abrir la tarjeta solo se muestra su código: no se gasta nada del saldo. Después, esta página mostrará el código cada vez que abra el enlace. Cualquiera que tenga el enlace puede abrir la tarjeta, así que no lo comparta, por favor.',
  },
  revealed: {
    heading: 'Aquí tiene su tarjeta regalo de {amount}',
    secrets: {
      code: { label: 'Código de la tarjeta', copy: 'Copiar el código' },
      address: { label: 'Enlace a la tarjeta', copy: 'Copiar el enlace' },
      pin: { label: 'PIN', copy: 'Copiar el PIN' },
    },
    copied: 'Copiado',
    copyFailed: 'No se ha podido copiar. El texto está seleccionado: cópielo a mano.',
    drawing: 'El código para la caja',
    enlarge: 'Ampliar el código',
    close: 'Cerrar',
    how: 'Cómo usarla',
    ofIssuer: 'Indicaciones del emisor',
    ofIssuerIn: 'Indicaciones del emisor (en {language})',
    inStore: 'En la tienda: muestre el código de arriba en la caja.',
    howShop: 'En línea: vaya a {shop} e introduzca allí el código de la tarjeta.',
    howPin: 'Si le piden un PIN, use el que aparece arriba.',
    howAddress: {
      open: 'Su tarjeta está en {shop}, en una página de su emisor: abra el enlace a la tarjeta que aparece arriba y siga las indicaciones de esa página para usarla.',
      keep: 'Conserve el enlace a la tarjeta hasta haber gastado todo su valor. Cualquiera que lo tenga puede usar la tarjeta, así que no lo comparta, por favor.',
      failed:
        'Si la tarjeta no se abre, inténtelo más tarde o copie el enlace a la tarjeta en otro navegador. Si no lo consigue, pida ayuda a quien se la envió e indique la referencia de abajo.',
      failedBrand:
        'Si la tarjeta no se abre, inténtelo más tarde o copie el enlace a la tarjeta en otro navegador. Si no lo consigue, pida ayuda a {brand} e indique la referencia de abajo.',
    },
    balance: 'Para saber cuánto saldo queda en la tarjeta, consulte en {shop}: Perkway no lo sabe.',
    askWhere:
      'Para saber dónde puede usar esta tarjeta, responda al mensaje que contenía el enlace y pregunte a quien se lo envió.',
    askWhereBrand:
      'Para saber dónde puede usar esta tarjeta, responda al mensaje que contenía el enlace o contacte con {brand} a través de su sitio web oficial.',
    shop: 'Ir a {shop}',
    terms: 'Condiciones de la tarjeta',
    newTab: '(se abre en otra pestaña)',
    print: 'Imprimir',
    save: 'Guardar como imagen',
    saved: 'La imagen se ha guardado',
    validUntil: 'Fecha de caducidad',
    noLastDay: 'El emisor no indica ninguna fecha',
    openedNow: 'Hora de apertura: {time}',
    openedBefore: 'Primera apertura: {moment}. ¿No fue usted? Quizá otra persona haya usado el código.',
    firstOpened: 'Se abrió por primera vez el',
    notYou:
      'Si no fue usted, otra persona conoce el código y quizá lo haya usado. Pida ayuda a quien le envió el enlace.',
    notYouBrand:
      'Si no fue usted, otra persona conoce el código y quizá lo haya usado. Pida ayuda a {brand}.',
    replaced: {
      heading: 'Esta tarjeta ha sido sustituida',
      text: 'Use la tarjeta nueva: encontrará el enlace en un mensaje más reciente. Es posible que el código de la tarjeta anterior ya no funcione.',
      show: 'Mostrar la tarjeta anterior',
    },
    keep: 'Conserve el enlace de esta página',
    keepWhy:
      'Ya no tiene fecha límite: con él podrá volver a ver la tarjeta cuando quiera, pero no el saldo que queda. Guárdelo en favoritos o conserve el mensaje recibido.',
    keepCode:
      'Antes de ir a una tienda, guarde la tarjeta como imagen: podrá verla sin conexión a internet. Trate el código como dinero en efectivo: no se lo dé a nadie que le llame o le escriba.',
  },
  expired: {
    heading: 'Este enlace ha caducado',
    when: 'La tarjeta no se abrió antes de la fecha límite, el {date}.',
    next: 'Su valor no se ha gastado: la tarjeta ha vuelto a quien la envió. Pídale un enlace nuevo.',
    nextBrand: 'Su valor no se ha gastado: la tarjeta ha vuelto a {brand}. Pida un enlace nuevo a {brand}.',
  },
  cancelled: {
    heading: 'Este enlace se ha cancelado',
    text: 'Ya no funciona: quien lo envió lo ha cancelado. Pregunte a la empresa que se lo envió.',
    textBrand: 'Ya no funciona: quien lo envió lo ha cancelado. Pregunte a {brand}.',
  },
  withdrawn: {
    heading: 'Esta tarjeta regalo se ha retirado',
    text: 'Su emisor la ha retirado, por eso el enlace ya no funciona. Pida un enlace nuevo a quien se lo envió.',
    textBrand: 'Su emisor la ha retirado, por eso el enlace ya no funciona. Pida un enlace nuevo a {brand}.',
  },
  replaced: {
    heading: 'Este enlace ha sido sustituido',
    text: 'Ya no funciona: se ha creado un enlace nuevo en su lugar. Abra el nuevo desde sus mensajes o pregunte a quien se lo envió.',
    textBrand:
      'Ya no funciona: se ha creado un enlace nuevo en su lugar. Abra el nuevo desde sus mensajes o pregunte a {brand}.',
  },
  reference: {
    label: 'Referencia para consultas',
    copy: 'Copiar la referencia',
  },
  help: 'Obtener ayuda',
  helpBrand: 'Obtener ayuda de {brand}',
  askSender: 'Si no lo consigue, consulte a quien le envió el mensaje con el enlace.',
  unknown: {
    heading: 'Este enlace no funciona',
    text: 'Probablemente se perdió una parte por el camino. Ábralo otra vez desde el mensaje, o copie el enlace completo y péguelo aquí.',
  },
  missing: {
    heading: 'Su enlace de regalo está incompleto',
    text: 'Falta una parte de su enlace. Algunos programas de correo cortan los enlaces. Copie el enlace completo de su mensaje y péguelo aquí.',
  },
  unreachable: {
    heading: 'Ahora no podemos acceder a su tarjeta',
    text: 'Se ha interrumpido su conexión a internet, o nuestro servicio no está disponible en este momento. Su tarjeta regalo está a salvo y su enlace sigue siendo válido, aunque estuviera abriendo la tarjeta.',
    next: 'Compruebe su conexión e inténtelo de nuevo. En cuanto vuelva la conexión, esta página también lo intentará por sí sola.',
    retry: 'Intentar de nuevo',
  },
  busy: {
    heading: 'Espere un minuto',
    text: 'Se han abierto demasiados enlaces de regalo no válidos en poco tiempo desde su red; quizá lo haya hecho otra persona. Por eso esta página le pide que espere.',
    next: 'Su tarjeta regalo está a salvo y su enlace sigue igual. Inténtelo de nuevo dentro de un minuto.',
  },
  paste: {
    label: 'Su enlace de regalo',
    open: 'Abrir el enlace',
    empty: 'Este campo está vacío. Pegue aquí su enlace de regalo, por favor.',
    wrong: 'Esto no parece un enlace de regalo. Cópielo otra vez de su mensaje, por favor.',
    again: 'Este enlace tampoco funciona. Copie el enlace completo de su mensaje, hasta el último carácter.',
  },
  delivered: {
    text: 'Perkway entrega tarjetas regalo en nombre de empresas y gestiona esta página. Su tarjeta regalo viene de quien le envió el mensaje con este enlace: consúltele si tiene alguna pregunta. Si no sabe quién se lo envió, no tiene por qué abrir la tarjeta: en ese caso vuelve a quien la envió.',
    textBrand:
      'Perkway entrega tarjetas regalo en nombre de {brand} y gestiona esta página. Si duda de que sea auténtica, contacte con {brand} a través de su sitio web oficial.',
  },
  footer: 'Esta página nunca le pide un pago, una contraseña ni datos personales.',
};

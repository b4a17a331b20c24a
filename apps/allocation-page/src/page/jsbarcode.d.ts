/** The part of JsBarcode that draws nothing: the package describes only the whole. */
declare module 'jsbarcode/bin/barcodes/CODE128/CODE128_AUTO.js' {
  /** A CommonJS module: what it calls its default is a member of ours. */
  const code128: {
    default: new (
      text: string,
      options: object,
    ) => {
      /** Modules as a text of 0 and 1. Throws for what the code cannot say. */
      encode(): { data: string };
    };
  };
  export default code128;
}

/** Types the encoder of JsBarcode alone; the package has types only for the whole library. */
declare module 'jsbarcode/bin/barcodes/CODE128/CODE128_AUTO.js' {
  /** A CommonJS module: its `default` export is a member of the default import. */
  const code128: {
    default: new (
      text: string,
      options: object,
    ) => {
      /** Returns the stripes, dark as 1 and light as 0. Throws for characters that Code 128 lacks. */
      encode(): { data: string };
    };
  };
  export default code128;
}

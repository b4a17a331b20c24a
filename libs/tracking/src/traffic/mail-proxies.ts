/**
 * Programs that fetch the images and links of a message instead of the person: image proxies of mail services and
 * scanners of mail gateways. Maintained by hand: `name` becomes the traffic reason, so it never changes once used. Mail
 * programs that people run (Outlook, Thunderbird, Apple Mail without privacy protection) do not belong here.
 */
export const MAIL_PROXIES: readonly { name: string; pattern: RegExp }[] = [
  { name: 'google-image-proxy', pattern: /GoogleImageProxy|ggpht\.com/i },
  { name: 'yahoo-mail-proxy', pattern: /YahooMailProxy|YahooMobileMailProxy/i },
  // Apple's Mail Privacy Protection sends exactly this, which no browser does.
  { name: 'apple-mail-privacy', pattern: /^Mozilla\/5\.0$/ },
  { name: 'seznam-email-proxy', pattern: /SeznamEmailProxy/i },
  { name: 'zoho-mail-proxy', pattern: /ZohoMail(?:Image)?Proxy/i },
  { name: 'yandex-image-proxy', pattern: /YandexImageResizer|YandexMail(?:Image)?Proxy/i },
  { name: 'mail-ru-proxy', pattern: /Mail\.?Ru.{0,20}(?:Proxy|Image)/i },
  { name: 'proton-mail-proxy', pattern: /Proton(?:Mail)?.{0,10}(?:Image)?Proxy/i },
  { name: 'fastmail-proxy', pattern: /FastMail.{0,10}(?:Image)?Proxy/i },
  { name: 'hey-image-proxy', pattern: /HEY.{0,10}(?:Image)?Proxy/i },
  { name: 'bing-preview', pattern: /BingPreview/i },
  {
    name: 'microsoft-safe-links',
    pattern: /SafeLinks|Exchange Online Protection|Microsoft-Defender|ATP-SafeLinks/i,
  },
  { name: 'barracuda', pattern: /Barracuda/i },
  { name: 'proofpoint', pattern: /Proofpoint|URLDefense/i },
  { name: 'mimecast', pattern: /Mimecast/i },
  { name: 'symantec-mail', pattern: /MessageLabs|Symantec[. ]?(?:cloud|Email)/i },
  { name: 'cisco-mail', pattern: /IronPort|Cisco[- ]?(?:Secure)?[- ]?Email/i },
  { name: 'trend-micro', pattern: /Trend ?Micro|TMUFE/i },
  { name: 'sophos-mail', pattern: /Sophos/i },
  { name: 'forcepoint', pattern: /Forcepoint|Websense/i },
  { name: 'fortimail', pattern: /FortiMail|FortiSandbox/i },
  { name: 'fireeye', pattern: /FireEye|Trellix/i },
  { name: 'cloudmark', pattern: /Cloudmark/i },
  { name: 'vade-secure', pattern: /Vade ?Secure|Hornetsecurity/i },
  { name: 'avanan', pattern: /Avanan|Check Point.{0,20}Email/i },
  { name: 'zscaler', pattern: /Zscaler/i },
  { name: 'spam-filter', pattern: /SpamAssassin|Rspamd|SpamTitan|MailScanner/i },
];

// Licences that a person read, of components whose licence no program recognizes. An entry names one version: the licence of
// the next one must be read again.

export const PUBLIC_DOMAIN = 'LicenseRef-public-domain'

export const REVIEWED: ReadonlyMap<string, string> = new Map([
  // Only the README states it.
  ['github.com/aliyun/aliyun-oss-go-sdk@v0.0.0-20190307165228-86c17b95fcd5', 'Apache-2.0'],
  // The README lets the user choose; the files are APLv2 and GPLv3.
  ['github.com/hashicorp/cronexpr@v1.1.1', 'Apache-2.0 OR GPL-3.0-only'],
  ['github.com/xi2/xz@v0.0.0-20171230120015-48954b6210f8', PUBLIC_DOMAIN],
])

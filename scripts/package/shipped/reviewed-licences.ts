// Licences that a person read, of components whose licence no program recognizes. An entry names one version: the licence of
// the next one must be read again.

export const PUBLIC_DOMAIN = 'LicenseRef-public-domain'

const GCC_LIBRARY = 'GPL-3.0-or-later WITH GCC-exception-3.1'

export const REVIEWED: ReadonlyMap<string, string> = new Map([
  // Only the README states it.
  ['github.com/aliyun/aliyun-oss-go-sdk@v0.0.0-20190307165228-86c17b95fcd5', 'Apache-2.0'],
  // The README lets the user choose; the files are APLv2 and GPLv3.
  ['github.com/hashicorp/cronexpr@v1.1.1', 'Apache-2.0 OR GPL-3.0-only'],
  // Debian packages of the server's image: of what ships, according to their copyright files.
  ['libc6@2.36-9+deb12u14', 'LGPL-2.1-or-later AND BSD-3-Clause AND ISC'],
  ['libstdc++6@12.2.0-14+deb12u1', GCC_LIBRARY],
  ['libgcc-s1@12.2.0-14+deb12u1', GCC_LIBRARY],
  ['libatomic1@12.2.0-14+deb12u1', GCC_LIBRARY],
  ['gcc-12-base@12.2.0-14+deb12u1', GCC_LIBRARY],
  // The certificates; the script that Debian adds does not ship.
  ['ca-certificates@20250419~deb12u2', 'MPL-2.0'],
  ['tzdata@2026f-0+deb12u1', PUBLIC_DOMAIN],
  ['base-files@12.4+deb12u15', 'GPL-2.0-or-later'],
  ['github.com/xi2/xz@v0.0.0-20171230120015-48954b6210f8', PUBLIC_DOMAIN],
])

// Recognizes licences by the sentences that every copy of their text contains. Go modules state their licence in no other way.

const SENTENCES: readonly (readonly [id: string, sentence: RegExp])[] = [
  ['Apache-2.0', /apache license,? version 2\.0|apache license version 2\.0, january 2004/],
  ['MPL-2.0', /mozilla public license,? (?:version|v\.?) ?2\.0/],
  ['AGPL-3.0-only', /gnu affero general public license/],
  ['LGPL-3.0-only', /gnu (?:lesser|library) general public license/],
  ['GPL-3.0-only', /gnu general public license/],
  ['EPL-2.0', /eclipse public license/],
  ['BUSL-1.1', /business source license/],
  ['UPL-1.0', /universal permissive license/],
  [
    'MIT',
    /permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated/,
  ],
  [
    'ISC',
    /permission to use, copy, modify, and(?: or)? distribute this software for any purpose with or without fee is hereby granted/,
  ],
  ['BSL-1.0', /boost software license/],
  ['Unlicense', /this is free and unencumbered software released into the public domain/],
  ['CC0-1.0', /cc0 1\.0 universal/],
]
const BSD = /redistribution and use in source and binary forms, with or without modification, are permitted/
const ENDORSEMENT = /neither the name|the names? of .{1,200}may not be used to endorse/

/** The licences that the text contains, as an SPDX expression; undefined if there is none that is known. */
export function recognizeLicence(text: string): string | undefined {
  // Comment signs and line breaks differ between copies.
  const plain = text.toLowerCase().replace(/[\s*#/>"“”]+/g, ' ')
  const found = SENTENCES.filter(([, sentence]) => sentence.test(plain)).map(([id]) => id)
  const all = BSD.test(plain) ? [...found, ENDORSEMENT.test(plain) ? 'BSD-3-Clause' : 'BSD-2-Clause'] : found
  return all.length === 0 ? undefined : withoutNamed(all).join(' AND ')
}

/** The text of a licence names related ones: the MPL allows the GPL, the LGPL and the AGPL as secondary licences. */
function withoutNamed(ids: readonly string[]): readonly string[] {
  return ids.includes('MPL-2.0') ? ids.filter((id) => !id.includes('GPL')) : ids
}

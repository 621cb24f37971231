// Nothing ships without a known licence that the allow-list contains.

import { describe, expect, test } from 'vitest'
import { isAllowed, licenceFaults } from '../../../scripts/package/shipped/check-licences.ts'
import { noticeOf } from '../../../scripts/package/shipped/notice.ts'
import { recognizeLicence } from '../../../scripts/package/shipped/recognize-licence.ts'
import type { Shipped } from '../../../scripts/package/shipped/shipped.ts'

const MIT = `The MIT License (MIT)

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software")`

const shipped = (licence: string | undefined, more: Partial<Shipped> = {}): Shipped => ({
  ecosystem: 'npm',
  name: 'made-up',
  version: '1.0.0',
  licence,
  texts: [{ file: 'LICENSE', text: MIT }],
  ...more,
})

describe('the allow-list', () => {
  test.each([
    ['MIT', true],
    ['Apache-2.0', true],
    ['(MIT OR GPL-3.0-only)', true],
    ['MIT AND BSD-3-Clause', true],
    ['MIT AND (GPL-2.0-only OR ISC)', true],
    ['GPL-3.0-only', false],
    ['MIT AND AGPL-3.0-only', false],
    ['AGPL-3.0-only AND MIT OR GPL-3.0-only', false],
    ['SSPL-1.0', false],
    ['GPL-2.0-only WITH Classpath-exception-2.0', false],
    ['SEE LICENSE IN LICENSE.md', false],
    ['(MIT', false],
    ['MIT)', false],
    ['', false],
  ])('%s: %s', (expression, allowed) => expect(isAllowed(expression)).toBe(allowed))

  test('names a component whose licence is not allowed', () =>
    expect(licenceFaults([shipped('MIT'), shipped('SSPL-1.0')])).toEqual([
      'pkg:npm/made-up@1.0.0 has the licence SSPL-1.0, which is not in the allow-list.',
    ]))

  test('allows the licences of Debian libraries for Debian packages alone', () => {
    const licence = 'GPL-3.0-or-later WITH GCC-exception-3.1'
    expect(licenceFaults([shipped(licence, { ecosystem: 'deb' })])).toEqual([])
    expect(licenceFaults([shipped(licence)])).toHaveLength(1)
    expect(licenceFaults([shipped('GPL-3.0-or-later', { ecosystem: 'deb' })])).toHaveLength(1)
  })

  test('names a component without a licence', () =>
    expect(licenceFaults([shipped(undefined)])).toEqual(['pkg:npm/made-up@1.0.0 has no known licence.']))
})

describe('the licence of a text', () => {
  test.each([
    [MIT, 'MIT'],
    ['// Apache License\n//   Version 2.0, January 2004', 'Apache-2.0'],
    ['Mozilla Public License, version 2.0 ... the GNU General Public License', 'MPL-2.0'],
    ['GNU LESSER GENERAL PUBLIC LICENSE\nVersion 3', 'LGPL-3.0-only'],
    ['GNU AFFERO GENERAL PUBLIC LICENSE', 'AGPL-3.0-only'],
    ['Business Source License 1.1', 'BUSL-1.1'],
    [
      '> Redistribution and use in source and binary forms, with or without\n> modification, are permitted provided',
      'BSD-2-Clause',
    ],
    [
      'Redistribution and use in source and binary forms, with or without modification, are permitted provided that: Neither the name of Google',
      'BSD-3-Clause',
    ],
    [
      'Permission to use, copy, modify, and/or distribute this software for any\npurpose with or without fee is hereby granted',
      'ISC',
    ],
    [`${MIT}\n\nApache License, Version 2.0`, 'Apache-2.0 AND MIT'],
    ['Do no evil with this software.', undefined],
  ])('%j: %s', (text, id) => expect(recognizeLicence(text)).toBe(id))
})

describe('the notice', () => {
  const notice = noticeOf('holdfast-cli', 'OUR LICENSE', [
    shipped('MIT'),
    shipped('MIT', { name: '@scope/other', version: '2.0.0' }),
    shipped('ISC', { name: 'third', texts: [{ file: 'LICENSE', text: 'THIRD' }] }),
  ])

  test('lists every component with its licence', () => {
    for (const line of [
      'pkg:npm/made-up@1.0.0  MIT',
      'pkg:npm/%40scope/other@2.0.0  MIT',
      'pkg:npm/third@1.0.0  ISC',
    ])
      expect(notice).toContain(`  ${line}\n`)
  })

  test('has each text once, after the components that share it', () => {
    expect(notice.split(MIT)).toHaveLength(2)
    expect(notice).toContain(`pkg:npm/made-up@1.0.0\npkg:npm/%40scope/other@2.0.0\n\n${MIT}`)
    expect(notice).toContain('THIRD')
    expect(notice).toContain('OUR LICENSE')
  })
})

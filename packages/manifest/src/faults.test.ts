// Every fault of a generated wrong manifest is reported at once, with the caret under the key or value at fault; misspelled
// fields get the right suggestion.

import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hintFor } from './hints.ts'
import { locateRejection, writtenField } from './locate.ts'
import { type Manifest, parseSource } from './parse-source.ts'
import { checkManifest } from './rules.ts'
import { arbitraryRename, arbitraryWrong, type WrongManifest } from './wrong-manifests.fixture.ts'

const MANIFESTS = inRun(100, 2000)
const MISSPELLED = inRun(60, 300)
/** Of 300 misspelled fields, at least 290 must get the right suggestion. */
const LEAST_SUGGESTED = Math.ceil((MISSPELLED * 290) / 300)

function parseWrong({ name, text, document }: WrongManifest): Manifest {
  const { manifests, faults } = parseSource({ name, bytes: new TextEncoder().encode(text) })
  expect(faults).toEqual([])
  const manifest = manifests[document]
  if (manifest === undefined) throw new Error(`no document ${document} in ${text}`)
  return manifest
}

test('every fault of a wrong manifest is reported, at the key or value at fault', () => {
  fc.assert(
    fc.property(arbitraryWrong(), (wrong) => {
      const manifest = parseWrong(wrong)
      const rejections = checkManifest(manifest)
      for (const { field, under, offset } of wrong.faults) {
        const rejection = rejections.find((each) => writtenField(manifest, each.field) === field)
        if (rejection === undefined) throw new Error(`no rejection at ${field}`)
        const { start, end } = locateRejection(manifest, rejection)
        expect([field, start, wrong.text.slice(start, end)]).toEqual([field, offset, under])
      }
    }),
    { numRuns: MANIFESTS },
  )
})

test('the other documents of the file have no faults', () =>
  fc.assert(
    fc.property(arbitraryWrong(), ({ name, text, document }) => {
      const { manifests } = parseSource({ name, bytes: new TextEncoder().encode(text) })
      const others = manifests.filter((_, at) => at !== document)
      expect(others.flatMap((each) => checkManifest(each))).toEqual([])
    }),
    { numRuns: inRun(10, 200) },
  ))

test('a misspelled field gets the name that was meant', () => {
  const wrongs = fc.sample(arbitraryWrong(arbitraryRename, 1), MISSPELLED)
  const missed = wrongs.filter((wrong) => {
    const manifest = parseWrong(wrong)
    const [fault] = wrong.faults
    const rejection = checkManifest(manifest).find((each) => each.field === fault?.field)
    const hint = rejection && hintFor(rejection, manifest.value)
    return !hint?.split(/[^\w]/).includes(fault?.meant ?? '')
  })
  const suggested = wrongs.length - missed.length
  console.info(`${suggested} of ${wrongs.length} misspelled fields got the right suggestion`)
  expect(
    suggested,
    missed.map(({ faults }) => `${faults[0]?.field} (${faults[0]?.meant})`).join(', '),
  ).toBeGreaterThanOrEqual(LEAST_SUGGESTED)
})

// Servers of this version change records that a newer server has changed: simulated clusters run on a store in which the
// records have random unknown members, at any depth. No change of a record may lose one. See docs/design/store.md#records

import { COLLECTIONS } from '@holdfast/server/store/records'
import { inRun } from '@holdfast/testkit/long-run'
import { createMemberLedger } from '@holdfast/testkit/newer-members/member-ledger'
import { withNewerMembers } from '@holdfast/testkit/newer-members/newer-keyspace'
import { RECORD_CHANGES } from '@holdfast/testkit/newer-members/record-changes'
import { createCountSum } from '@holdfast/testkit/newer-members/sum-counts'
import { expect, test } from 'vitest'
import { createInvariants } from '../invariants/index.ts'
import { runScript } from '../script/run-script.ts'
import type { Script, Step } from '../script/script.ts'
import { createRandom } from '../time/random.ts'
import { randomScript } from './random-script.ts'
import { randomSteps } from './random-steps.ts'

/** In this seed a server loses and regains a shard while it retries a commit, and must not plan with its former view. */
const FIRST_SEED = 7
const CHANGES = inRun(2_000, 20_000)
const TIMEOUT_MS = inRun(300_000, 3_600_000)

test('the table of changes has every kind of record and no other', () => {
  expect(Object.keys(RECORD_CHANGES).toSorted()).toEqual(COLLECTIONS.map(({ folder }) => folder).toSorted())
})

test(
  'simulated servers keep the unknown members of every record that they change',
  async () => {
    const sum = createCountSum()
    let seed = FIRST_SEED
    while (sum.changes() < CHANGES) {
      const ledger = createMemberLedger(createRandom(seed, 'members').below)
      const script = denseScript(seed)
      const { check } = createInvariants(script)
      const { violations } = await runScript(script, {
        seed,
        check,
        wrapStore: (keyspace) => withNewerMembers(keyspace, ledger),
      })
      expect({ seed, faults: ledger.faults, violations }).toEqual({ seed, faults: [], violations: [] })
      sum.add(ledger.counts)
      seed += 1
    }
    console.log(
      `${sum.changes()} changes in ${seed - FIRST_SEED} scripts; marked/changes/members: ${sum.text()}`,
    )
    expect(sum.untouched('simulation')).toEqual([])
  },
  TIMEOUT_MS,
)

const PARTS = 30
const FASTER = 4

/** A script with many steps in a short time, because every virtual second of heartbeats costs time and changes nothing. */
function denseScript(seed: number): Script {
  const script = randomScript(seed)
  const random = createRandom(seed, 'dense')
  const steps: Step[] = []
  for (let part = 0; part < PARTS; part += 1) {
    const since = steps.at(-1)?.at ?? 0
    for (const step of randomSteps(random, script.cluster))
      steps.push({ ...step, at: since + Math.round(step.at / FASTER) })
  }
  return { ...script, steps, settleMs: 5_000 }
}

// Performs the steps that concern several machines. Members are changed through etcd, which refuses a change that would cost
// it its majority.

import { sleep } from '../../lib/sleep.ts'
import type { EtcdMember, EtcdMembers } from '../../ports/etcd-members.ts'
import { EngineError } from '../../ports/key-value.ts'
import { readIfPresent, writeOwned } from '../files.ts'
import { layoutBelow } from '../layout.ts'
import { type Performing, SetupFault } from '../performing.ts'
import type {
  AddressStep,
  DeliverStep,
  MemberStep,
  PromoteStep,
  SettingsStep,
  StoreAddressStep,
  VoterStep,
} from '../step.ts'
import { connectToMembers, gatherVoter } from './gather-join.ts'
import { writeInvitation } from './invitation.ts'
import { requireFile } from './require-invited.ts'
import { withSettings } from './settings.ts'

type JoinStep =
  | AddressStep
  | DeliverStep
  | MemberStep
  | PromoteStep
  | SettingsStep
  | StoreAddressStep
  | VoterStep

/** A learner copies a large store first. */
const PROMOTED_MS = 300_000
/** The secrets store lets a new member vote when it was healthy for 10 s. */
const VOTER_MS = 120_000
const POLL_MS = 250

export async function performJoinStep(step: JoinStep, work: Performing): Promise<void> {
  switch (step.kind) {
    case 'deliver':
      return writeOwned(work.machine, step, deliveredText(step, work))
    case 'settings':
      return writeSettings(step, work)
    case 'store address':
      return writeOwned(work.machine, step, step.content)
    case 'member':
      return withMembers(work, (members) => addMember(step, members))
    case 'promote':
      return withMembers(work, (members) => promoteMember(step, members))
    case 'address':
      return withMembers(work, (members) => announceAddress(step, members))
    case 'voter':
      return waitForVote(work)
  }
}

function deliveredText({ item }: DeliverStep, { invitation }: Performing): string {
  if (item !== 'invitation') return requireFile(invitation, item)
  if (invitation === undefined) throw new SetupFault('Setup needs --join FILE.')
  return writeInvitation(invitation)
}

function writeSettings(step: SettingsStep, { machine, invitation }: Performing): void {
  const { base } = step
  const text = base === undefined ? readIfPresent(step.path) : requireFile(invitation, base.item)
  if (text === undefined) throw new SetupFault(`${step.path} is gone. Run setup again to see what it can do.`)
  writeOwned(machine, step, withSettings(text, [...(base?.settings ?? []), ...step.settings]))
}

async function withMembers(work: Performing, change: (members: EtcdMembers) => Promise<void>): Promise<void> {
  const { options, invitation } = work
  const members = connectToMembers(options, layoutBelow(options.root), invitation)
  if (members === undefined)
    throw new SetupFault('The certificate for etcd cannot be read. Run setup as root.')
  try {
    await change(members)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    throw new SetupFault(`etcd refused: ${error.message}. Check its members, then run setup again.`)
  } finally {
    members.close()
  }
}

const at = (members: readonly EtcdMember[], peerUrl: string): EtcdMember | undefined =>
  members.find(({ peerUrls }) => peerUrls.includes(peerUrl))

async function addMember({ peerUrl }: MemberStep, members: EtcdMembers): Promise<void> {
  if (at(await members.list(), peerUrl) === undefined) await members.addLearner(peerUrl)
}

async function announceAddress({ name, peerUrl }: AddressStep, members: EtcdMembers): Promise<void> {
  const found = (await members.list()).find((member) => member.name === name)
  if (found === undefined) throw new SetupFault(`etcd has no member ${name}. Read its log.`)
  if (!found.peerUrls.includes(peerUrl)) await members.changeAddress(found.id, peerUrl)
}

async function promoteMember({ peerUrl }: PromoteStep, members: EtcdMembers): Promise<void> {
  const deadline = performance.now() + PROMOTED_MS
  for (;;) {
    const found = at(await members.list(), peerUrl)
    if (found === undefined)
      throw new SetupFault(`No member of etcd has the address ${peerUrl}. Run setup again.`)
    if (!found.isLearner) return
    try {
      await members.promote(found.id)
    } catch (error) {
      if (!(error instanceof EngineError) || performance.now() > deadline) throw error
      await sleep(POLL_MS)
    }
  }
}

async function waitForVote({ options, report }: Performing): Promise<void> {
  const deadline = performance.now() + VOTER_MS
  for (;;) {
    const voter = await gatherVoter(options, layoutBelow(options.root))
    if (voter === 'yes') return
    if (voter === 'hidden')
      return report(
        'The policy of this platform is too old to show the members of the secrets store. Wait a minute before you rely on this machine.',
      )
    if (performance.now() > deadline)
      throw new SetupFault(
        `The secrets store on this machine has no vote after ${VOTER_MS / 1000} s. Read its log, then run setup again.`,
      )
    await sleep(POLL_MS)
  }
}

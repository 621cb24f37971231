// Decides which steps remain of those that concern several machines: members, addresses, votes and settings. Pure.

import type { SetupFacts } from '../facts.ts'
import {
  type AddressStep,
  type MemberStep,
  type PromoteStep,
  type SettingsStep,
  type Step,
  type StoreAddressStep,
  type VoterStep,
  writtenBy,
} from '../step.ts'
import { changedSettings } from './settings.ts'

type JoinStep = AddressStep | MemberStep | PromoteStep | SettingsStep | StoreAddressStep | VoterStep

/** The step as it must be performed, or undefined if its state is reached. */
export function remainingJoin(step: JoinStep, facts: SetupFacts, before: readonly Step[]): Step | undefined {
  switch (step.kind) {
    case 'member':
      return facts.hasEtcdData || memberAt(step.peerUrl, facts) !== undefined ? undefined : step
    case 'promote':
      return isVoter(step.peerUrl, facts) ? undefined : step
    case 'address':
      return needsAddress(step, facts) ? step : undefined
    case 'store address':
      return needsStoreAddress(step, facts) ? step : undefined
    case 'settings':
      return remainingSettings(step, facts, before)
    case 'voter':
      return facts.voter === 'yes' || facts.voter === 'hidden' ? undefined : step
  }
}

const memberAt = (peerUrl: string, { members }: SetupFacts) =>
  members?.find(({ peerUrls }) => peerUrls.includes(peerUrl))

/** Members that do not answer cannot promote: with data here, the step waits for a run in which they do. */
function isVoter(peerUrl: string, facts: SetupFacts): boolean {
  if (facts.members === undefined) return facts.hasEtcdData
  return memberAt(peerUrl, facts)?.isLearner === false
}

/** A member with data does not read its own address from its environment. */
function needsAddress({ peerUrl }: AddressStep, facts: SetupFacts): boolean {
  if (!facts.hasEtcdData) return false
  if (facts.members !== undefined) return memberAt(peerUrl, facts) === undefined
  const { configuredAddress } = facts
  return configuredAddress !== undefined && new URL(peerUrl).hostname !== configuredAddress
}

function needsStoreAddress({ config, line }: StoreAddressStep, facts: SetupFacts): boolean {
  const text = facts.files.get(config)?.text
  return facts.secretsStore !== 'empty' && text !== undefined && !text.split('\n').includes(line)
}

function remainingSettings(
  step: SettingsStep,
  { files }: SetupFacts,
  before: readonly Step[],
): Step | undefined {
  const text = files.get(step.path)?.text
  if (text === undefined) return before.flatMap(writtenBy).includes(step.path) ? undefined : step
  const settings = changedSettings(text, step.settings)
  if (settings.length === 0) return undefined
  return { kind: step.kind, path: step.path, mode: step.mode, owner: step.owner, settings }
}

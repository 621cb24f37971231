// `holdfast node upgrade`: guides an operator through the upgrade of agents, one node at a time. The platform cannot install
// packages on a machine, so the command prints what to run there and checks the outcome (docs/guides/upgrade.md#agents).

import { type Client, type Result, readAll } from '@holdfast/client'
import type { Node } from '@holdfast/contract'
import { DURATION, durationSeconds } from '../../args/forms.ts'
import type { OnlineCommand } from '../../command.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { waitForAgent } from '../../follow/wait-for-agent.ts'
import { NODE_ARGUMENT } from '../../node-command.ts'
import { count } from '../../print/count.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { findNode } from '../../resources/find-node.ts'
import { statusText } from '../../resources/nodes.ts'
import { print, report, type Terminal } from '../../terminal/terminal.ts'

/** In this time, a person installs the package on the machine. */
const DEFAULT_WAIT_S = 1800

export const nodeUpgrade: OnlineCommand = {
  name: 'node upgrade',
  summary: 'guide the upgrade of an agent, and check that its containers kept running',
  details:
    'The platform cannot install packages on a machine. The command checks that the node is ready, prints what to run on the machine, waits until the agent reports the version of the server, and compares the containers of the platform with those from before. With --all it does so for each node with an outdated agent, one after another, and stops at the first one that is not ready or whose containers changed.',
  args: [{ ...NODE_ARGUMENT, optional: true }],
  options: [
    { flags: '--all', summary: 'upgrade all outdated nodes, one at a time' },
    {
      flags: '--wait-timeout <duration>',
      summary: 'how long to wait for the new agent of a node (default: 30m)',
      form: DURATION,
    },
  ],
  examples: [
    ['holdfast node upgrade n1', 'Prints what to run on n1, and waits until its new agent is ready.'],
    ['holdfast node upgrade --all', 'Continues with the next outdated node after each one.'],
  ],
  online: true,
  async run({ terminal, args: [typed], text, flag }, client) {
    if ((typed === undefined) !== flag('all')) {
      printError(terminal, 'node upgrade needs the name of a node, or --all')
      return EXIT.usage
    }
    const [nodes, me] = await Promise.all([chooseNodes(client, typed), client.tenants.me()])
    if (!nodes.ok) return printFailure(terminal, nodes.failure)
    if (!me.ok) return printFailure(terminal, me.failure)
    const waitMs = 1000 * (durationSeconds(text('wait-timeout') ?? '') ?? DEFAULT_WAIT_S)
    if (nodes.value.length === 0) report(terminal, 'no node has an outdated agent')
    for (const node of nodes.value) {
      const exitCode = await upgradeNode(terminal, client, node, { to: me.value.server.version, waitMs })
      if (exitCode !== EXIT.ok) return exitCode
    }
    return EXIT.ok
  },
}

/** The named node; without a name, all nodes with an outdated agent. */
async function chooseNodes(client: Client, typed: string | undefined): Promise<Result<Node[]>> {
  if (typed === undefined) {
    const listed = await readAll((page) => client.nodes.list(page))
    return listed.ok
      ? { ok: true, value: listed.value.filter(({ agentOutdated }) => agentOutdated === true) }
      : listed
  }
  const found = await findNode(client, typed.replace(/^node\//, ''))
  return found.ok ? { ok: true, value: [found.value] } : found
}

async function upgradeNode(
  terminal: Terminal,
  client: Client,
  node: Node,
  { to, waitMs }: { readonly to: string; readonly waitMs: number },
): Promise<ExitCode> {
  const { name } = node
  if (node.status !== 'ready') {
    printError(
      terminal,
      `${name} is ${statusText(node)}; make it ready first, see holdfast describe node ${name}`,
    )
    return EXIT.notReady
  }
  if (node.agentOutdated !== true) {
    print(terminal, `node/${name} already runs ${node.agentVersion}`)
    return EXIT.ok
  }
  const before = await client.nodes.containers(node.id)
  if (!before.ok) return printFailure(terminal, before.failure)
  print(terminal, installation(node, to))
  report(terminal, `waiting for the agent of ${name}; its containers keep running`)
  const waited = await waitForAgent(terminal, client, { node, before: before.value.items, waitMs })
  switch (waited.kind) {
    case 'failed':
      return printFailure(terminal, waited.failure)
    case 'interrupted':
      return EXIT.interrupted
    case 'late':
      printError(terminal, lateText(waited.node, to))
      return EXIT.notReady
    case 'ready':
      return printOutcome(terminal, waited.node, waited)
  }
}

const installation = ({ name, agentVersion }: Node, to: string): string =>
  [
    `# On ${name}, as root: replaces the agent ${agentVersion} by ${to} and restarts it.`,
    `apt install ./holdfast-agent_${to}_amd64.deb        # Debian, Ubuntu`,
    `dnf install ./holdfast-agent-${to}-1.x86_64.rpm     # Fedora, RHEL`,
  ].join('\n')

function lateText(node: Node, to: string): string {
  const { name, agentOutdated, agentVersion } = node
  const state =
    agentOutdated === true
      ? `still runs ${agentVersion}, not ${to}`
      : `runs ${agentVersion} but is ${statusText(node)}`
  return `${name} ${state}; see journalctl --unit holdfast-agent on the machine, then run this command again`
}

function printOutcome(
  terminal: Terminal,
  { name, agentVersion }: Node,
  { kept, changed }: { readonly kept: number; readonly changed: readonly string[] },
): ExitCode {
  print(terminal, `node/${name} upgraded to ${agentVersion}, ${count(kept, 'container')} kept running`)
  if (changed.length === 0) return EXIT.ok
  const which = `${count(changed.length, 'container')} of ${name} ended or restarted: ${changed.join(', ')}`
  printError(terminal, `${which}; if no deployment was changed, see holdfast events before the next node`)
  return EXIT.error
}

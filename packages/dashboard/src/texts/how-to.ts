// How a person carries out a change that a remedy names and that no button does yet.

import type { ChangeKind } from '@holdfast/contract'

const EDIT = 'Change the manifest, look at its plan with holdfast diff -f FILE, and apply it.'

export const HOW_TO: { readonly [kind in ChangeKind]: (node: string) => string } = {
  make_ready: (node) =>
    `On ${node}, check the machine, its network and its agent: systemctl status holdfast-agent.`,
  uncordon: (node) => `holdfast node uncordon ${node}`,
  upgrade_agent: (node) => `Install the newer agent on ${node} and restart it. Containers keep running.`,
  set_label: (node) => `Set the label in the configuration of the agent on ${node}, then restart the agent.`,
  attest_label: (node) =>
    `Create a join token that attests it with holdfast node join-token ${node}, then enroll ${node} again.`,
  free: (node) =>
    `Lower the requests of deployments there, or move one. holdfast describe node ${node} lists them.`,
  place_beside: () => 'Scale the other deployment, or name the node in its manifest.',
  move_away: (node) => `Move the other deployment off ${node}, for example by a constraint in its manifest.`,
  name_node: () => EDIT,
  change_constraint: () => EDIT,
  change_affinity: () => EDIT,
  change_anti_affinity: () => EDIT,
  change_networks: () => EDIT,
  change_residency: () => EDIT,
  lower_request: () => EDIT,
  raise_quota: () => 'Ask a platform administrator, who runs holdfast tenant quota.',
  enforce_residency: () =>
    'Ask a platform administrator, who enables the enforcement of residency on the server.',
}

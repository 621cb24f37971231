// Words of kubectl, docker and similar tools that are no command or kind here, each with what to type instead.

export const COMMAND_HABITS: { readonly [typed: string]: string } = {
  attach: 'holdfast exec -it NAME sh opens a shell; holdfast logs NAME -f follows the output',
  cp: 'holdfast exec NAME cat FILE prints a file of a container',
  create: 'holdfast init NAME writes a manifest; holdfast apply -f FILE creates the deployment',
  deploy: 'holdfast apply -f FILE',
  down: 'holdfast delete -f FILE',
  edit: 'holdfast get deployment NAME -o yaml > FILE, then holdfast apply -f FILE',
  expose: 'add routes to the manifest; holdfast explain routes',
  images: 'holdfast get deployments lists the image of each deployment',
  label: 'add labels to the manifest; holdfast explain labels',
  new: 'holdfast init NAME writes a manifest',
  open: 'holdfast get routes lists the addresses',
  patch: 'holdfast set image, holdfast set env, holdfast scale, or holdfast apply -f FILE',
  run: 'holdfast init NAME writes a manifest; holdfast apply -f FILE creates the deployment',
  start: 'holdfast scale NAME 1',
  stop: 'holdfast scale NAME 0',
  up: 'holdfast apply -f FILE',
  update: 'holdfast set image, holdfast set env, holdfast scale, or holdfast apply -f FILE',
  wait: 'holdfast rollout status NAME waits until a deployment is ready; apply, scale and set have --wait',
}

export const KIND_HABITS: { readonly [typed: string]: string } = {
  all: 'holdfast status shows deployments, nodes, quotas and events',
  configmaps: 'environment in the manifest; holdfast set env changes it',
  cm: 'environment in the manifest; holdfast set env changes it',
  images: 'holdfast get deployments lists the image of each deployment',
  ing: 'holdfast get routes',
  ingress: 'holdfast get routes',
  namespaces: 'holdfast get tenants',
  ns: 'holdfast get tenants',
  po: 'replicas: holdfast ps, or holdfast describe NAME',
  pod: 'replicas: holdfast ps, or holdfast describe NAME',
  pods: 'replicas: holdfast ps, or holdfast describe NAME',
  services: 'holdfast get routes',
  svc: 'holdfast get routes',
}

// The files that the tidy rules look at, as text and as syntax trees, and the form in which a rule reports.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export interface Source {
  /** Relative to the project's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
  readonly text: string;
}

/** A rule sees all files at once and reports what is against it: no state, no file system. */
export type Rule = (sources: readonly Source[]) => Violation[];

export const describe = (v: Violation): string => `${v.path}:${v.line} ${v.rule}: ${v.text}`;

export const isCode = (source: Source): boolean => /\.(ts|mjs)$/.test(source.path);
export const isTypeScript = (source: Source): boolean => source.path.endsWith('.ts');
export const isProduct = (source: Source): boolean => source.path.startsWith('src/') && isTypeScript(source);

const trees = new WeakMap<Source, ts.SourceFile>();

export function treeOf(source: Source): ts.SourceFile {
  const known = trees.get(source);
  if (known !== undefined) return known;
  const tree = ts.createSourceFile(source.path, source.text, ts.ScriptTarget.Latest, true);
  trees.set(source, tree);
  return tree;
}

export function visit(source: Source, each: (node: ts.Node) => void): void {
  const walk = (node: ts.Node): void => {
    each(node);
    ts.forEachChild(node, walk);
  };
  walk(treeOf(source));
}

export function lineOf(source: Source, at: number): number {
  return treeOf(source).getLineAndCharacterOfPosition(at).line + 1;
}

export function violationAt(source: Source, node: ts.Node, rule: string, text: string): Violation {
  return { path: source.path, line: lineOf(source, node.getStart()), rule, text };
}

export function projectRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package-lock.json'))) folder = dirname(folder);
  return folder;
}

const textual = /\.(ts|mjs|cjs|js|json|md|sh|txt|conf|properties)$|^\.ci\/run$|^LICENSE$|^\.(gitignore|npmrc)$/;

/** Tracked and not yet tracked files alike; in a copy without history everything that is not made by a tool. */
export function projectSources(root: string): Source[] {
  return projectPaths(root)
    .filter((path) => textual.test(path) && existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

function projectPaths(root: string): string[] {
  try {
    const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 26 });
    return listed.split('\0').filter((path) => path !== '');
  } catch {
    return walkFolder(root, '');
  }
}

const made = new Set(['node_modules', 'dist', 'build', '.build', '.git']);

function walkFolder(root: string, folder: string): string[] {
  return readdirSync(join(root, folder)).flatMap((name) => {
    const path = folder === '' ? name : `${folder}/${name}`;
    if (made.has(name) || path === 'store') return [];
    return statSync(join(root, path)).isDirectory() ? walkFolder(root, path) : [path];
  });
}

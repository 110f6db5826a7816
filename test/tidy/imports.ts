// What a file imports, and the rules on it: layers, doors, extensions, and no file that nothing reaches.
import { posix } from 'node:path';
import ts from 'typescript';
import { isProduct, isTypeScript, lineOf, type Rule, type Source, type Violation, visit } from './source.ts';
import { actorFiles, doors, entries, impureModules, layers, platformDoors, pureLayers, reachedByTests } from './table.ts';

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** The project's file, where the specifier is relative. */
  readonly target: string | undefined;
  /** What is taken by name; empty where all of it is, or nothing but types. */
  readonly names: readonly string[];
}

export function importsOf(source: Source): Import[] {
  const found: Import[] = [];
  visit(source, (node) => {
    const name = moduleName(node);
    if (name === undefined) return;
    const target = name.text.startsWith('.') ? posix.join(posix.dirname(source.path), name.text) : undefined;
    found.push({ specifier: name.text, line: lineOf(source, name.getStart()), target, names: namesTaken(node) });
  });
  return found;
}

/** import and export … from, import('…') as call and as type. */
function moduleName(node: ts.Node): ts.StringLiteralLike | undefined {
  let name: ts.Node | undefined;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) name = node.moduleSpecifier;
  else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) name = node.arguments[0];
  else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) name = node.argument.literal;
  return name !== undefined && ts.isStringLiteralLike(name) ? name : undefined;
}

function namesTaken(node: ts.Node): string[] {
  if (!ts.isImportDeclaration(node)) return [];
  const bindings = node.importClause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings)) return [];
  return bindings.elements.map((element) => (element.propertyName ?? element.name).text);
}

export function layerOf(path: string): string | undefined {
  const parts = path.split('/');
  if (parts[0] !== 'src') return undefined;
  if (path === 'src/topology.ts') return 'topology';
  return parts.length === 2 ? 'root' : parts[1];
}

/** The actor that a file belongs to, by its folder or its own name; none for what actors share (context, messages). */
function actorOf(path: string): string | undefined {
  return (/^src\/actors\/([^/]+)\//.exec(path) ?? actorFiles.exec(path))?.[1];
}

/** Reports with the line of each import that `judge` finds fault with. */
function judgeImports(sources: readonly Source[], rule: string, judge: (source: Source, each: Import) => string | undefined): Violation[] {
  return sources.filter(isProduct).flatMap((source) =>
    importsOf(source).flatMap((each) => {
      const text = judge(source, each);
      return text === undefined ? [] : [{ path: source.path, line: each.line, rule, text }];
    }),
  );
}

export const layering: Rule = (sources) =>
  judgeImports(sources, 'layer', (source, each) => {
    if (each.target === undefined) return undefined;
    const from = layerOf(source.path) ?? '';
    const to = layerOf(each.target);
    const allowed = layers[from];
    if (allowed === undefined) return `folder src/${from} is in no row of the layer table`;
    if (to === undefined) return `src imports ${each.target}, which lies outside`;
    if (from === 'actors' && to === 'actors') {
      const other = actorOf(each.target);
      return other === undefined || other === actorOf(source.path) ? undefined : `an actor imports another actor, ${each.target}`;
    }
    return to === from || allowed.includes(to) ? undefined : `${from} may import [${allowed.join(', ')}], not ${to} (${each.target})`;
  });

export const purity: Rule = (sources) =>
  judgeImports(sources, 'pure', (source, each) =>
    pureLayers.includes(layerOf(source.path) ?? '') && impureModules.test(each.specifier)
      ? `${layerOf(source.path)} only decides; ${each.specifier} acts`
      : undefined,
  );

const isPackage = (each: Import): boolean => each.target === undefined && !each.specifier.startsWith('node:');
const packageName = (specifier: string): string =>
  (specifier.startsWith('@') ? /^[^/]+\/[^/]+/ : /^[^/]+/).exec(specifier)?.[0] ?? specifier;

export const oneDoorPerPackage: Rule = (sources) => {
  const first = new Map<string, string>(Object.entries(doors));
  return judgeImports(sources, 'door', (source, each) => {
    if (!isPackage(each)) return undefined;
    const name = packageName(each.specifier);
    const door = first.get(name) ?? source.path;
    first.set(name, door);
    return door === source.path ? undefined : `package ${name} has its door in ${door}`;
  });
};

export const platformModules: Rule = (sources) =>
  judgeImports(sources, 'door', (source, each) => {
    const closed = platformDoors.find((door) => door.module.test(each.specifier) && !door.places.test(source.path));
    if (closed !== undefined && each.names.length > 0 && each.names.every((name) => closed.harmless.test(name))) return undefined;
    if (closed !== undefined) return `${each.specifier} is opened only in files like ${closed.places.source}`;
    return isPackage(each) || each.target !== undefined || each.specifier.startsWith('node:')
      ? undefined
      : `unknown module ${each.specifier}`;
  });

/** What src imports must be installed with the product, so not be a development dependency. */
export const shippedPackages: Rule = (sources) => {
  const manifest = sources.find((source) => source.path === 'package.json');
  if (manifest === undefined) return [];
  const { dependencies = {} } = JSON.parse(manifest.text) as { dependencies?: Record<string, string> };
  return judgeImports(sources, 'dependency', (_, each) => {
    const name = packageName(each.specifier);
    return isPackage(each) && !(name in dependencies) ? `package ${name} is not among the dependencies` : undefined;
  });
};

export const extensions: Rule = (sources) =>
  sources.filter(isTypeScript).flatMap((source) =>
    importsOf(source)
      .filter((each) => each.target !== undefined && !/\.(ts|mjs|json)$/.test(each.specifier))
      .map((each) => ({
        path: source.path,
        line: each.line,
        rule: 'extension',
        text: `write ${each.specifier} with the file's own extension`,
      })),
  );

function reach(sources: readonly Source[], from: readonly string[]): Set<string> {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const reached = new Set<string>();
  const open = from.filter((path) => byPath.has(path));
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const source = byPath.get(path);
    if (source === undefined || reached.has(path)) continue;
    reached.add(path);
    for (const each of importsOf(source)) if (each.target !== undefined) open.push(each.target);
  }
  return reached;
}

/** A file of src is reached from an entry, one of test or bench from a test or a bench. No entry yet: nothing to judge. */
export const orphans: Rule = (sources) => {
  const code = sources.filter(isTypeScript);
  const present = code.filter((source) => entries.includes(source.path)).map((source) => source.path);
  const starts = code.filter((source) => /\.test\.ts$|^bench\/[^/]+\.ts$/.test(source.path)).map((source) => source.path);
  const product = reach(code, present);
  const tests = reach(code, starts);
  return code
    .filter((source) =>
      source.path.startsWith('src/')
        ? present.length > 0 && !product.has(source.path) && !(tests.has(source.path) && forTests(source.path))
        : !tests.has(source.path),
    )
    .filter((source) => /^(src|test|bench)\//.test(source.path) && !started(code, source.path))
    .map((source) => ({ path: source.path, line: 1, rule: 'orphan', text: 'nothing that is started reaches this file' }));
};

function forTests(path: string): boolean {
  return reachedByTests.some((row) => row.files.test(path));
}

/** A test or a bench may start a file as a process or thread of its own; it then names it in a URL or path. */
function started(code: readonly Source[], path: string): boolean {
  if (path.startsWith('src/')) return false;
  const name = posix.basename(path, '.ts');
  return code.some((source) => source.path !== path && new RegExp(`['"\`/]${name}\\.(js|ts)['"\`]`).test(source.text));
}
